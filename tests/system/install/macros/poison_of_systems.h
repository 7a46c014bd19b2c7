// Macros of the systems' headers: of C, POSIX, X11 and Windows.
#pragma once

// X11
#undef None
#define None @
#undef Status
#define Status @
#undef Success
#define Success @
#undef Bool
#define Bool @
#undef True
#define True @
#undef False
#define False @
#undef Always
#define Always @
#undef Complex
#define Complex @
#undef Convex
#define Convex @
#undef Nonconvex
#define Nonconvex @
#undef Unsorted
#define Unsorted @
#undef Above
#define Above @
#undef Below
#define Below @
#undef Opposite
#define Opposite @
#undef Absolute
#define Absolute @
#undef Relative
#define Relative @
#undef GrayScale
#define GrayScale @
#undef FocusIn
#define FocusIn @
#undef FocusOut
#define FocusOut @
#undef Expose
#define Expose @
#undef KeyPress
#define KeyPress @
#undef KeyRelease
#define KeyRelease @
#undef ButtonPress
#define ButtonPress @
#undef CursorShape
#define CursorShape @
#undef CurrentTime
#define CurrentTime @
#undef AnyKey
#define AnyKey @
#undef InputOnly
#define InputOnly @
#undef InputOutput
#define InputOutput @
#undef CopyFromParent
#define CopyFromParent @
#undef ParentRelative
#define ParentRelative @
#undef RevertToNone
#define RevertToNone @
#undef BadValue
#define BadValue @
#undef BadMatch
#define BadMatch @
#undef BadAlloc
#define BadAlloc @
#undef NoSymbol
#define NoSymbol @
#undef YSorted
#define YSorted @
#undef XYSorted
#define XYSorted @
#undef Origin
#define Origin @
#undef Coordinate
#define Coordinate @
#undef LineSolid
#define LineSolid @
#undef FillSolid
#define FillSolid @
#undef DestroyAll
#define DestroyAll @
#undef RetainPermanent
#define RetainPermanent @
#undef AllTemporary
#define AllTemporary @
#undef Button1
#define Button1 @
#undef ControlMask
#define ControlMask @

// windows.h and what it includes
#undef min
#define min @
#undef max
#define max @
#undef ERROR
#define ERROR @
#undef small
#define small @
#undef near
#define near @
#undef far
#define far @
#undef hyper
#define hyper @
#undef IN
#define IN @
#undef OUT
#define OUT @
#undef INOUT
#define INOUT @
#undef OPTIONAL
#define OPTIONAL @
#undef interface
#define interface @
#undef DELETE
#define DELETE @
#undef CONST
#define CONST @
#undef VOID
#define VOID @
#undef TEXT
#define TEXT @
#undef IGNORE
#define IGNORE @
#undef STRICT
#define STRICT @
#undef NO_ERROR
#define NO_ERROR @
#undef INFINITE
#define INFINITE @
#undef TRUE
#define TRUE @
#undef FALSE
#define FALSE @
#undef BOOL
#define BOOL @
#undef CreateFile
#define CreateFile @
#undef GetObject
#define GetObject @
#undef GetMessage
#define GetMessage @
#undef SendMessage
#define SendMessage @
#undef Yield
#define Yield @
#undef MemoryBarrier
#define MemoryBarrier @
#undef RELATIVE
#define RELATIVE @
#undef ABSOLUTE
#define ABSOLUTE @
#undef TRANSPARENT
#define TRANSPARENT @
#undef OPAQUE
#define OPAQUE @
#undef DIFFERENCE
#define DIFFERENCE @
#undef PASSTHROUGH
#define PASSTHROUGH @
#undef PURE
#define PURE @
#undef THIS
#define THIS @
#undef DEBUG
#define DEBUG @
#undef cdecl
#define cdecl @
#undef pascal
#define pascal @

// complex.h and tgmath.h of C
#undef I
#define I @
#undef complex
#define complex @
#undef imaginary
#define imaginary @
#undef real
#define real @
#undef imag
#define imag @

// termios and sys
#undef major
#define major @
#undef minor
#define minor @
#undef makedev
#define makedev @
#undef B0
#define B0 @
#undef B50
#define B50 @
#undef B110
#define B110 @
#undef B9600
#define B9600 @
#undef ECHO
#define ECHO @
#undef TAB0
#define TAB0 @
#undef MIN
#define MIN @
#undef MAX
#define MAX @
#undef linux
#define linux @
#undef unix
#define unix @

// ctype, and programs with short names
#undef A
#define A @
#undef B
#define B @
#undef C
#define C @
#undef D
#define D @
#undef E
#define E @
#undef G
#define G @
#undef H
#define H @
#undef J
#define J @
#undef K
#define K @
#undef L
#define L @
#undef M
#define M @
#undef N
#define N @
#undef O
#define O @
#undef P
#define P @
#undef Q
#define Q @
#undef R
#define R @
#undef S
#define S @
#undef T
#define T @
#undef U
#define U @
#undef V
#define V @
#undef W
#define W @
#undef X
#define X @
#undef Y
#define Y @
#undef Z
#define Z @
#undef Type
#define Type @
#undef Unknown
#define Unknown @
#undef Matrix
#define Matrix @
#undef Index
#define Index @
#undef Scalar
#define Scalar @
#undef Half
#define Half @
#undef Grid
#define Grid @
