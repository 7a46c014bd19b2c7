% Octave under LD_PRELOAD: its products are right, and the kernel log shows that Tessera made them.
a = mod(reshape(0:123*77-1, 123, 77), 19) - 9;
b = mod(reshape(0:77*65-1, 77, 65), 17) - 8;
exact = zeros(123, 65); % by multiplications of elements, which no BLAS does
for p = 1:77
  exact += a(:, p) .* b(p, :);
endfor
imaginary = mod(reshape(0:123*77-1, 123, 77), 7) - 3;
of_imaginary = zeros(123, 65);
for p = 1:77
  of_imaginary += imaginary(:, p) .* b(p, :);
endfor
assert(a * b, exact)
assert(single(a) * single(b), single(exact))
z = a + 1i * imaginary;
w = 1i * b;
product = 1i * exact - of_imaginary;
assert(z * w, product)
assert(single(z) * single(w), single(product))
turned = z';
assert(turned' * w, product)
assert(z.' * conj(z(:, 1)), conj(z' * z(:, 1)))
assert(w' * z', product')
assert((eye(50) * 3) \ ones(50, 1), ones(50, 1) / 3, 1e-15) % LAPACK is left to the library behind
disp("octave is right")
