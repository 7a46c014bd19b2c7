// No device code is compiled here.
