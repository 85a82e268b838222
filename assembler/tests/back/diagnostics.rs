//! Errors with their complete texts: the message, [the place], related places, the suggestion.

use reviver_assembler::diagnostic::Severity;
use reviver_assembler::files::FilesInMemory;

use crate::support::{assembly, assembly_of, errors, module, refusal, refusal_of, shown};

/// Invalid texts with all of their errors.
#[rustfmt::skip]
const REFUSED: &[(&str, &str)] = &[
    (".in count\n add coutn, 1\n",
     "nothing is named `coutn` here [coutn] | did you mean `count`?"),
    (".in a\n add zzz, 1\n",
     "nothing is named `zzz` here [zzz] | declare it: `.var zzz` outside of procedures, `.ancilla zzz` or `local zzz = …`"),
    (".in a\n.out a\n add a, 1\n",
     "the name `a` is declared twice [a] | [a]: first declared here"),
    (".proc p()\n.end\n.proc p()\n.end\n",
     "the procedure `p` is declared twice [p] | [p]: first declared here"),
    (".macro m()\n.endm\n.macro m()\n.endm\n.in a\n",
     "the macro `m` is declared twice [m] | [m]: first declared here"),
    (".proc p(in a, in a)\n.end\n",
     "the parameter `a` is declared twice [a] | [a]: first declared here"),
    (".proc main()\n.end\n",
     "no procedure can be named `main` [main] | choose another name: `main` is the code outside of procedures"),
    (".word 8\n.word 16\n.in a\n",
     "the width of integers is set twice, to different values [.word 16] | [.word 8]: first set here"),
    (".real f32\n.real f64\n.in a\n",
     "the number system is set twice, to different values [.real f64] | [.real f32]: first set here"),
    (".limit depth -1\n.in a\n",
     "a limit is an integer, 0 or above [-1]"),
    (".in a\n.limit tape 99999999999\n",
     "`.limit tape` is at most 1073741824 [99999999999]"),
    (".in a\n.tolerance -1\n",
     "the tolerance must be a finite number, 0 or above [-1]"),
    (".out a default 3\n",
     "`a` is not an input, so it can't have a default [a] | write `= value` for the initial value, or declare an input by `.in` or `.inout`"),
    (".in A[3] = {1, 2}\n",
     "2 values for 3 cells [1, 2] | one value without braces fills every cell"),
    (".garbage t[], x\n add x, t*2\n push x\n",
     "`t` is a stack: only `push` and `pop` reach it [t] | [t]: declared here | `push x` puts x on the stack of its class, `pop x` takes the last value off it"),
    (".garbage t[], x\n add x, t[0]\n push x\n",
     "`t` is a stack: only `push` and `pop` reach it [t[0]] | [t]: declared here | `push x` puts x on the stack of its class, `pop x` takes the last value off it"),
    (".garbage t[], x, A[3]\n add x, A[t]\n push x\n",
     "`t` is a stack: only `push` and `pop` reach it [t] | [t]: declared here | `push x` puts x on the stack of its class, `pop x` takes the last value off it"),
    (".garbage t[], x\n call p(t)\n push x\n.proc p(in v)\n.end\n",
     "`t` is a stack: only `push` and `pop` reach it [t] | [t]: declared here | `push x` puts x on the stack of its class, `pop x` takes the last value off it"),
    (".garbage t[], x\n add x, len(t)\n push x\n",
     "`t` is a stack: only `push` and `pop` reach it [len(t)] | [t]: declared here | `push x` puts x on the stack of its class, `pop x` takes the last value off it"),
    (".out s[]\n.in t[]\n",
     "`t` and `s` are both the stack of integers [t] | [s]: the stack of integers is declared here | declare only one stack of each class"),
    (".garbage t[] = {1, 2}\n",
     "the stack `t` has initial values, but a stack begins empty [t] | declare an input with a `default`, or `push` the values"),
    (".in t[] default {1, 2.5}\n",
     "expected an integer, found the real 2.5 [2.5] | write an integer, or declare the cells `: real`"),
    (".ancilla t[]\n",
     "a stack can't be declared by `.ancilla` [t] | declare a stack outside of procedures: `.var t[]`, or `.garbage t[]` if it may end with values. For an array, write a length: `t[10]`"),
    (".in x\n local t[]\n delocal t[]\n",
     "an array needs a length [[] | write a length: `[3]`. A stack has none, and is declared outside of procedures: `.garbage NAME[]`\n\
      an array needs a length [[] | write a length: `[3]`. A stack has none, and is declared outside of procedures: `.garbage NAME[]`"),
    (".in a = 1.5\n",
     "expected an integer, found the real 1.5 [1.5] | write an integer, or declare the cells `: real`"),
    (".word 8\n.in a\n add a, 300\n",
     "300 does not fit into 8 bits [300] | write a number from -128 to 127, or a bit pattern in base 2, 8 or 16 up to 0xff"),
    (".word 8\n.in a\n add a, 0x1ff\n",
     "511 does not fit into 8 bits [0x1ff] | write a number from -128 to 127, or a bit pattern in base 2, 8 or 16 up to 0xff"),
    (".word 8\n.in a\n add a, 0xff ^ 0x100\n",
     "256 does not fit into 8 bits [0x100] | write a number from -128 to 127, or a bit pattern in base 2, 8 or 16 up to 0xff"),
    (".const A = 1 / 0\n.in x\n",
     "this constant expression divides by zero [1 / 0] | divide by another number: the machine would trap here, too"),
    (".const A = 1e300 * 1e300\n.in x\n",
     "this constant expression has no value: the result is not a finite number [1e300 * 1e300] | change the expression: the machine would trap here, too"),
    (".word 8\n.in A[100 * 3]\n",
     "this number wraps around in 8 bits, so it can't be a count [100 * 3] | write the count as one number, or choose a wider word: `.word 64`"),
    (".const A = 1.5 & 2\n.in x\n",
     "this operator takes integers [1.5 & 2]"),
    (".const SIZE = 3\n.const B = SIZZ\n.in x\n",
     "no constant `SIZZ` is defined before this place [SIZZ] | did you mean `SIZE`?"),
    (".in n\n.in A[n]\n",
     "`n` is a cell, not a constant [n] | [n]: declared here"),
    (".in a\n add a, 1.5\n",
     "expected an integer, found a real [1.5] | [a]: the target is an integer | write an integer, or declare the target `: real`"),
    (".in a\n if a < 1.5\n neg a\n fi a < 1.5\n",
     "expected an integer, found the real 1.5 [1.5] | write an integer, or declare the cells `: real`\n\
         expected an integer, found the real 1.5 [1.5] | write an integer, or declare the cells `: real`"),
    (".const N = 3\n.in a\n add a, N[1]\n",
     "`N` is no array and has no elements [N[1]]"),
    (".in A[3], B[3]: real\n add A[B[1]], 1\n",
     "an index is an integer [B[1]]"),
    (".in A[3]\n add A[1.5], 1\n",
     "an index is an integer [1.5]"),
    (".in a, b\nx: br y, a*b > 1\ny: from x, a > b\n",
     "`br` and `from` test cells and constants [a*b > 1] | compute the value into a cell, or write a block such as `if … fi`, which tests expressions"),
    (".in a, b\n swap a + b, a\n",
     "an expression can't be changed [a + b] | compute it into a cell with `local`"),
    (".in a, b\n call p(a*b)\n.proc p(inout v)\n add v, 1\n.end\n",
     "the argument does not fit the parameter `v` [a*b] | [v]: `v` takes a cell of class int that the procedure may change"),
    (".in a, b: real\n call p(a*2)\n.proc p(in v: real)\n.end\n",
     "the argument does not fit the parameter `v` [a*2] | [v]: `v` takes a cell or a constant of class real | pass `toreal(a * 2)`"),
    (".in a, x: real\n add x, a + x\n",
     "`+` does not compute a real from an integer and a real [add x, a + x] | write `toreal(a)`\n`x` is the target and a source of one instruction [add x, a + x] | copy the cell into an ancilla first: otherwise its old value could be lost"),
    (".in a, x: real\n add x, exp(a*2)\n",
     "`exp` does not compute a real from an integer [add x, exp(a*2)] | write `toreal(a * 2)`"),
    (".in a, x: real\n add a, exp(x)\n",
     "`exp` does not compute an integer from a real [add a, exp(x)] | convert its result: `add a, toint(exp(x))`"),
    (".in a, b\n add a, (a+1)*b\n",
     "`a` is changed here, but an expression on this line reads it [add a, (a+1)*b] | compute the expression into a `local` before this line, and end the `local` where `a` has its old value again"),
    (".in a, b\n call p(a, a*2+b)\n.proc p(inout v, in w)\n add v, w\n.end\n",
     "`a` is changed here, but an expression on this line reads it [call p(a, a*2+b)] | compute the expression into a `local` before this line, and end the `local` where `a` has its old value again"),
    (".in a, b: real\n local t = a + b\n delocal t = a + b\n",
     "the value does not fit the local `t` [a] | convert the value: `toreal(a)`"),
    (".in a, b\n local t: real = a * b\n delocal t = a * b\n",
     "the value does not fit the local `t` [t] | leave out the class, `local t = a * b`, or convert the value: `toreal(a * b)`"),
    (".in a, b\n add a, foo(b)\n",
     "there is no function `foo` [foo]"),
    (".in a, b\n add a, max(b)\n",
     "`max` takes 2 sources, found 1 [max(b)]"),
    (".in a, b\n.const N = sqrt(-1.0)\n add a, N\n",
     "this constant expression has no value: the result is not a finite number [sqrt(-1.0)] | change the expression: the machine would trap here, too"),
    (".in a, b: real\n if a*2 > b\n add a, 1\n fi a > 1\n",
     "an integer and a real can't be compared [a*2 > b] | compare with `toreal(a * 2)`"),
    (".in a, b\n for i in 0..a*2\n add a, 1\n rof\n",
     "the body of this `for` changes the upper bound [add a, 1] | [a*2]: the upper bound of the loop | change another cell: a backward run needs the same counter and the same bounds"),
    (".macro m(x)\n add x, 1\n.endm\n.in a, b\n m a*b\n",
     "an expression can't be changed [x] | [m a*b]: in this use of `m` | compute it into a cell with `local`"),
    (".in n\n local v[3] = 1\n delocal v[3]\n",
     "a local array can't have a value [=] | add values to the elements after the `local`, and subtract them again before the `delocal`"),
    (".in n\n local v[3]\n add v[0], n\n sub v[0], n\n delocal v[4]\n",
     "the `local` and the `delocal` of `v` differ in their lengths [v] | write `delocal v[3]`: in a backward run `v` begins here"),
    (".in n\n local v[2, 2]\n delocal v\n",
     "the `local` and the `delocal` of `v` differ in their lengths [v] | write `delocal v[2, 2]`: in a backward run `v` begins here"),
    (".in x: real\n local v[3]: real\n add v[0], x\n sub v[0], x\n delocal v[3]\n",
     "`delocal v` doesn't say that `v` is real [v] | write the same class as at the `local`: in a backward run `v` begins here"),
    (".in n, a\n add a, len(n)\n",
     "`n` has no such length [len(n)] | write `len(n)` for a vector or a slice; for a matrix, write `len(n, 0)` for its rows or `len(n, 1)` for its columns"),
    (".in M[2, 3], a\n add a, len(M)\n",
     "`M` has no such length [len(M)] | write `len(M)` for a vector or a slice; for a matrix, write `len(M, 0)` for its rows or `len(M, 1)` for its columns"),
    (".in M[2, 3], a\n add a, len(M, 2)\n",
     "`M` has no such length [len(M, 2)] | write `len(M)` for a vector or a slice; for a matrix, write `len(M, 0)` for its rows or `len(M, 1)` for its columns"),
    (".in A[3], a\n call p(A, a)\n.proc p(in v[], inout b)\n.ancilla t[len(v)]\n add b, v[0]\n.end\n",
     "`v` has no length that is known before the program runs [len(v)] | write `len(v)` for a vector or a slice; for a matrix, write `len(v, 0)` for its rows or `len(v, 1)` for its columns"),
    (".in A[3], a\n call p(A, 3)\n.proc p(in v[])\n assert len(v) > 0\n.end\n",
     "`p` takes 1 argument [p] | [p]: declared here | pass one argument for each parameter: (v)"),
    (".in v[3]\n call p(v)\n.proc p(in M[,])\n assert M[0, 0] == 0\n.end\n",
     "the argument does not fit the parameter `M` [v] | [M]: `M` takes a whole matrix of int"),
    (".in N[2, 3]\n call p(N[0, ..])\n.proc p(in M[,])\n assert M[0, 0] == 0\n.end\n",
     "the argument does not fit the parameter `M` [N[0, ..]] | [M]: `M` takes a whole matrix of int"),
    (".in N[2, 3]\n call p(N[0, 1])\n.proc p(inout M[,]: real)\n add M[0, 0], 1.0\n.end\n",
     "the argument does not fit the parameter `M` [N[0, 1]] | [M]: `M` takes a whole matrix of real that the procedure may change"),
    (".in N[2, 3]\n call p(N)\n.proc p(in M[,])\n assert M[0] == 0\n.end\n",
     "`M` is a matrix: an element has two indices [M[0]]"),
    (".in N[2, 3]\n call p(N)\n.proc p(in M[,])\n assert M == 0\n.end\n",
     "`M` is an array: an element needs an index [M] | write `M[i, j]`"),
    (".in N[2, 3]\n call p(N)\n.proc p(in M[,])\n assert len(M) == 0\n.end\n",
     "`M` has no such length [len(M)] | write `len(M)` for a vector or a slice; for a matrix, write `len(M, 0)` for its rows or `len(M, 1)` for its columns"),
    (".in N[2, 3]\n call p(N)\n.proc p(in M[2, 3])\n assert M[0, 0] == 0\n.end\n",
     "expected `]` or `,]` (a parameter has no lengths), found `2` [2] | [[]: opened here"),
    (".in N[2, 3]\n call p(N)\n.proc p(in M[,,])\n assert M[0, 0] == 0\n.end\n",
     "expected `]` (a parameter has no lengths), found `,` [,] | [[]: opened here"),
    (".in N[2, 3]\n call p(N)\n.proc p(in M[,])\n call q(M[0..2])\n.end\n.proc q(in v[])\n assert v[0] == 0\n.end\n",
     "`M` is a matrix: pass `M[i, ..]` or `M[.., j]` [M[0..2]] | [q]: the parameter `v` of `q` is declared here"),
    (".inout N[2, 3]\n call p(N, N)\n.proc p(inout M[,], in v[])\n add M[0, 0], v[1]\n.end\n",
     "two arguments are the same cells [N] | [N]: passed here too | pass different cells, or declare both parameters `in`"),
    (".word 8\n.in A[300], i\n.out y\n call p(A[0..i], y)\n.proc p(in v[], inout y)\n add y, len(v)\n.end\n",
     "the length of `A` is 300 cells, which doesn't fit into 8 bits [A[0..i]] | choose `.word 32` or `.word 64`: the procedure uses the length of its argument"),
    (".word 8\n.inout A[300], y\n call p(A[0..10], y)\n call p(A[100..-100], y)\n.proc p(in v[], inout y)\n add y, len(v)\n.end\n",
     "the index -100 is outside of `A` [A[100..-100]] | [p]: the parameter `v` of `p` is declared here | the indices of `A` go from 0 to 300"),
    (".word 8\n.inout M[300, 3], y\n call p(M, y)\n.proc p(in M[,], inout y)\n add y, len(M, 0)\n.end\n",
     "the length of `M` is 300 rows, which doesn't fit into 8 bits [M] | choose `.word 32` or `.word 64`: the procedure uses the length of its argument"),
    (".inout n = 3, v[10]\n call p(v[1..n+1], n)\n.proc p(in v[], inout m)\n add m, len(v)\n.end\n",
     "`n` is changed here, but an expression on this line reads it [call p(v[1..n+1], n)] | compute the expression into a `local` before this line, and end the `local` where `n` has its old value again"),
    (".in n\n for len$i in 0..3\n rof\n",
     "`len$i` is a reserved name [len$i] | choose another name"),
    (".in n\n.macro m(len$a)\n add len$a, 1\n.endm\n m n\n",
     "`len$a` is a reserved name [len$a] | choose another name"),
    (".word 8\n.inout i, A[250], y\n call g(A, i, y)\n.proc g(inout w[], in i, inout y)\n call p(w[i..i+100], y)\n call p(w[i..100], y)\n.end\n.proc p(in v[], inout y)\n add y, len(v)\n.end\n",
     "the length of `A` is 250 cells, which doesn't fit into 8 bits [A] | choose `.word 32` or `.word 64`: the procedure uses the length of its argument"),
    (".word 8\n.inout M[20, 30]\n.out y\n call p(M, y)\n.proc p(in M[,], inout y)\n call q(M, y)\n.end\n.proc q(in v[], inout y)\n add y, len(v)\n.end\n",
     "the length of `M` is 600 cells, which doesn't fit into 8 bits [M] | choose `.word 32` or `.word 64`: the procedure uses the length of its argument"),
    (".inout v[10], y\n call f(v[0..9223372036854775807 step 2], y)\n.proc f(inout v[], inout y)\n add y, len(v)\n.end\n",
     "the index 9223372036854775807 is outside of `v` [v[0..9223372036854775807 step 2]] | [f]: the parameter `v` of `f` is declared here | the indices of `v` go from 0 to 10"),
    (".inout y: real, M[2, 3]: real\n call f(y, M)\n call g(y)\n.proc f(inout y: real, in M[,]: real) rule g\n add y, toreal(len(M, 0)*len(M, 1))\n.end\n.proc g(inout y: real)\n add y', 1.0\n.end\n",
     "the rule `g` must have the same parameters as `f` [f] | [g]: the rule is declared here"),
    (".in len$v\n assert len$v == 0\n",
     "`len$v` is a reserved name [len$v] | choose another name"),
    (".in y\n local len$k = 3\n delocal len$k = 3\n",
     "`len$k` is a reserved name [len$k] | choose another name"),
    (".in y\n call g(3, y)\n.proc g(in len$q, inout y)\n add y, len$q\n.end\n",
     "`len$q` isn't the length of any parameter [g]"),
    (".in A[3], n\n add n, A[0..2]\n",
     "an operand is one cell, not a part of an array [A[0..2]] | write an index, as in `A[i]`; only a call can pass a part of an array"),
    (".in A[4], n\n call p(A[0..2 step 0])\n.proc p(inout v[])\n.end\n",
     "a step is an integer constant, 1 or above [0]"),
    (".in n\ntop: from agian, n != 0\n neg n\nagain: br top, n != 0\n",
     "no label `agian` in this procedure [agian] | did you mean `again`?"),
    (".in n\na: neg n\na: neg n\n",
     "the label `a` is declared twice in this procedure [a] | [a]: first declared here"),
    (".in n\na: br b, n == 0\nb: neg n\n",
     "`b` can't be a partner: its instruction is neither `br` nor `from` [b] | [b]: labelled here"),
    (".in n\na: br b, n == 0\nb: br a, n == 0\n",
     "the partner of a `br` must be a `from` [b] | [b]: this is a `br` too"),
    (".in n\na: br c, n == 0\nb: br c, n == 1\nc: from a, n == 2\n",
     "`c` does not name this branch as its partner [c] | [a]: but `c` names `a` | a `br` and a `from` must name each other"),
    (".in n\na: br b, n == 0\n call p()\n.proc p()\nb: from a, 1 == 1\n.end\n",
     "no label `b` in this procedure [b] | [b]: the label is in another procedure | write both branches in one procedure; to run another procedure, use `call`\n\
         no label `a` in this procedure [a] | [a]: the label is in another procedure | write both branches in one procedure; to run another procedure, use `call`"),
    (".in n\na: if n == 0\n neg n\n fi n == 0\n",
     "the label `a` names no instruction [a]"),
    (".in n\n neg n\na:\n",
     "the label `a` names no instruction [a]"),
    (".in n\na: br b, n == 0 and n == 1\nb: from a, n == 0\n",
     "`br` and `from` test a single comparison [n == 0 and n == 1] | write a block: `and`, `or` and `not` are allowed in `assert`, and in `if`, `fi`, `from` and `until` of blocks"),
    (".in n\n if always\n neg n\n fi n == 0\n",
     "`always` is allowed only in the two branches of a pair [always] | write a comparison as the condition of a block"),
    (".in n\n call p(n)\n.proc p(in a, inout b)\n.end\n",
     "`p` takes 2 arguments [p] | [b]: nothing is passed for `b` | pass one argument for each parameter: (a, b)"),
    (".in x: real\n call p(x)\n.proc p(in a)\n.end\n",
     "the argument does not fit the parameter `a` [x] | [a]: `a` takes a cell or a constant of class int | pass `toint(x)`"),
    (".in x: real\n call p(3)\n.proc p(inout a)\n.end\n",
     "the argument does not fit the parameter `a` [3] | [a]: `a` takes a cell of class int that the procedure may change"),
    (".in x\n call p(x)\n.proc p(in a[])\n.end\n",
     "the argument does not fit the parameter `a` [x] | [a]: `a` takes an array of int"),
    (".in x[3]\n call p(x)\n.proc p(in a)\n.end\n",
     "the argument does not fit the parameter `a` [x] | [a]: `a` takes a cell or a constant of class int"),
    (".in x\n call p(x)\n.proc p(in a)\n call q(a)\n.end\n.proc q(inout b)\n.end\n",
     "the argument does not fit the parameter `b` [a] | [b]: `b` takes a cell of class int that the procedure may change"),
    (".in x\n call scael(x)\n.proc scale(in a)\n.end\n",
     "no procedure `scael` [scael] | did you mean `scale`?"),
    (".in x\n call m(x)\n.macro m(a)\n.endm\n",
     "no procedure `m` [m] | leave out `call`: a macro is used by its name alone"),
    (".in x\n scale x\n.proc scale(in a)\n.end\n",
     "no instruction or macro `scale` [scale] | write `call scale(…)` to run the procedure"),
    (".proc p(in a) rule q\n.end\n",
     "no procedure `q` [q]"),
    (".in a\n if a == 0\n local t = a\n fi a == 0\n",
     "the local `t` is still open at the end of its block [t] | end it with `delocal t = …` in the same block"),
    (".in a\n local t = a\n",
     "the local `t` is still open at the end of its block [t] | end it with `delocal t = …` in the same block"),
    (".in a\n local t = a\n if a == 0\n delocal t = a\n fi a == 0\n",
     "no local `t` is open in this block [t] | [t]: opened here, in another block | `local` and `delocal` belong to the same block"),
    (".in a, t\n local t = a\n delocal t = a\n",
     "`t` would hide another `t` [t] | [t]: first declared here | choose another name"),
    (".out a\n local r1\n add a, r1\n delocal r1\n",
     "`r1` would hide another `r1` [r1] | choose another name: `r1` is a register"),
    (".out a\n add a, r2\n sub a, r2\n for r2 in 0..3\n add a, r2\n rof\n",
     "`r2` would hide another `r2` [r2] | choose another name: `r2` is a register"),
    (".in a\n local t = a\n local t = a\n delocal t = a\n",
     "`t` would hide another `t` [t] | [t]: first declared here | choose another name"),
    (".in a\n local tmp = a\n delocal tmq = a\n",
     "the local `tmp` is still open at the end of its block [tmp] | end it with `delocal tmp = …` in the same block\n\
         no local `tmq` is open in this block [tmq] | did you mean `tmp`?"),
    (".in a\n delocal a = 1\n",
     "no local `a` is open in this block [a]"),
    (".in n\n for i in 0..n\n add i, 1\n rof\n",
     "the body of this `for` changes the counter [add i, 1] | [i]: the counter of the loop | change another cell: a backward run needs the same counter and the same bounds"),
    (".in n\n for i in 0..n\n neg n\n rof\n",
     "the body of this `for` changes the upper bound [neg n] | [n]: the upper bound of the loop | change another cell: a backward run needs the same counter and the same bounds"),
    (".in n\n for i in 0..n\n call p(n)\n rof\n.proc p(inout a)\n.end\n",
     "the body of this `for` changes the upper bound [call p(n)] | [n]: the upper bound of the loop | change another cell: a backward run needs the same counter and the same bounds"),
    (".in n\n for i in 0..10 step 3\n neg n\n rof\n",
     "steps of 3 from 0 do not reach 10 exactly [0..10] | write the upper bound 9, the nearest one that the steps reach"),
    (".in n\n for i in 0..10 step 0\n neg n\n rof\n",
     "a step is an integer constant, 1 or above [0]"),
    (".in i\n for i in 0..10\n neg i\n rof\n",
     "`i` would hide another `i` [i] | [i]: first declared here | choose another name\n\
         the body of this `for` changes the counter [neg i] | [i]: the counter of the loop | change another cell: a backward run needs the same counter and the same bounds"),
    (".in a\n.macro m(x)\n k x\n.endm\n.macro k(x)\n m x\n.endm\n m a\n",
     "the macro `m` uses itself [m] | [k x]: in this use of `k` | [m a]: in this use of `m` | write a loop with `from` or `for`, or a procedure, which may call itself"),
    (".in a\n.macro m(x)\n neg x\n.endm\n m a, a\n",
     "the macro `m` takes 1 argument [m] | [m]: defined here"),
    (".in a\n.macro m(x)\n neg y\n.endm\n m a\n m a\n",
     "nothing is named `y` here [y] | [m a]: in this use of `m` | declare it: `.var y` outside of procedures, `.ancilla y` or `local y = …`"),
    (".in a\n.macro m(x)\n add x, t\n.endm\n local t = a\n m a\n delocal t = a\n",
     "nothing is named `t` here [t] | [t]: not visible inside of a macro | [m a]: in this use of `m` | pass it to the macro as an argument"),
    (".in a\n.macro cnot(x)\n neg x\n.endm\n cnto a\n",
     "no instruction or macro `cnto` [cnto] | did you mean `cnot`?"),
    (".in a, b: real\n.macro m(x, y)\n swap x, y\n.endm\n m a, b\n",
     "an integer and a real can't be exchanged [swap x, y] | [m a, b]: in this use of a macro"),
    (".in a\nz: from y, a == 0\n.macro m()\ny: br z, a == 0\n.endm\n m\n",
     "no label `y` in this procedure [y]\n\
         no label `z` in this procedure [z] | [z]: the label outside | write both branches of the pair inside the macro or the uncomputed part, or both outside of it"),
    (".in a\n add a, a\n",
     "`a` is the target and a source of one instruction [a] | copy the cell into an ancilla first: otherwise its old value could be lost"),
    (".in a, b: real\n add a, b\n",
     "`add` changes an integer by a real [add a, b] | write `toint(b)`, which drops the fraction; `round` and `floor` give whole reals"),
    (".in A[3]\n add A[3], 1\n",
     "the index 3 is outside of `A` [A[3]] | the indices of `A` go from 0 to 2"),
    ("",
     "there is no program here [] | declare cells with `.in` and `.out`, and write one instruction on each line"),
    ("; nothing\n",
     "there is no program here [] | declare cells with `.in` and `.out`, and write one instruction on each line"),
    (".in a\n add b, 1\n add c, 1\n call d()\n if e == 1\n fi e == 1\n",
     "nothing is named `b` here [b] | declare it: `.var b` outside of procedures, `.ancilla b` or `local b = …`\n\
         nothing is named `c` here [c] | declare it: `.var c` outside of procedures, `.ancilla c` or `local c = …`\n\
         no procedure `d` [d]\n\
         nothing is named `e` here [e] | declare it: `.var e` outside of procedures, `.ancilla e` or `local e = …`"),
    (".in a\n compute\n local t = a\n apply\n delocal t = a\n uncompute\n",
     "no local `t` is open in this block [t] | [t]: opened here, in another block | `local` and `delocal` belong to the same block"),
    (".in a\n.macro m()\n neg zz\n.endm\n m\n compute\n m\n apply\n uncompute\n",
     "nothing is named `zz` here [zz] | [m]: in this use of `m` | declare it: `.var zz` outside of procedures, `.ancilla zz` or `local zz = …`"),
    (".const A = ~1.5\n.in x\n",
     "`~` takes an integer [~1.5]"),
    (".in A[0]\n",
     "a length is an integer from 1 to 4294967295 [0]"),
    (".in A[3], i\n add A[i+9223372036854775808], 1\n",
     "the index 9223372036854775808 does not fit into 64 bits [i+9223372036854775808]"),
    (".in n\n local t: real = n\n delocal t = n\n",
     "the value does not fit the local `t` [n] | convert the value: `toreal(n)`"),
    (".in A[3], i\n add A[i+1.5], 1\n",
     "expected an integer, found a real [1.5] | [i]: an integer | write an integer"),
    (".const N = 3\n.in y: real\n add y, N'\n",
     "only a cell has an adjoint [N']"),
    (".in A[3]: real\n call p(A')\n.proc p(in v[]: real)\n.end\n",
     "the argument does not fit the parameter `v` [A'] | [v]: `v` takes an array of real"),
    (".in n\n compute\na: br b, n == 0\n apply\n neg n\nb: from a, n == 0\n uncompute\n",
     "no label `b` in this procedure [b] | [b]: the label outside | write both branches of the pair inside the macro or the uncomputed part, or both outside of it"),
    (".in n\n.inout s\n.macro m()\n add s, n\n.endm\n call p(s)\n.proc p(inout n)\n m\n.end\n",
     "the macro means the global `n`, which a parameter of this procedure hides [n] | [n]: the global | [m]: in this use of `m` | give the parameter another name"),
    (".in M[3, 4]\n call p(M[.., ..,1])\n.proc p(in v[])\n.end\n",
     "arrays have at most two dimensions [[.., ..,1]]"),
    (".in n\n call p(mode)\n.proc p(inout v)\n.end\n",
     "the argument does not fit the parameter `v` [mode] | [v]: `v` takes a cell of class int that the procedure may change"),
    (".in n\n local t = n\n delocal t: real = n\n",
     "`t` is int, not real [t]"),
];

#[test]
fn each_mistake_is_explained() {
    for (text, expected) in REFUSED {
        assert_eq!(refusal(text), *expected, "\n{text}");
    }
}

#[test]
fn registers_need_no_declaration() {
    let module = module("\tadd r0, 1\n\tadd f12, 1\n\tsub f12, 1\n\tsub r0, 1\n");
    let names: Vec<&str> = module.globals.iter().map(|g| g.name.as_str()).collect();
    assert_eq!(names, ["r0", "f12"]);
}

#[test]
fn declarations_alone_are_a_program() {
    assert!(assembly(".in a\n").module.is_some());
}

#[test]
fn a_file_included_twice_counts_once() {
    let files = FilesInMemory::new()
        .with("lib/a.rasm", ".include \"b.rasm\"\n.proc a(inout x)\n\tadd x, 1\n.end\n")
        .with("lib/b.rasm", ".inout common\n");
    let text = ".include \"lib/a.rasm\"\n.include \"lib/b.rasm\"\n\tcall a(common)\n";
    let assembly = assembly_of(text, &files);
    assert!(assembly.module.is_some(), "{:?}", assembly.diagnostics);
}

#[test]
fn includes_that_fail_are_explained() {
    let files = FilesInMemory::new().with("bin.rasm", vec![0x89, b'R', 0xff]).with("nul.rasm", vec![b';', 0]);
    let missing = refusal_of(".include \"no.rasm\"\n", &files);
    assert!(missing.starts_with("there is no file `no.rasm` [\"no.rasm\"]"), "{missing}");
    let text = ".in x\n.include \"bin.rasm\"\n.include \"nul.rasm\"\n\tadd y1, x\n";
    let binary = refusal_of(text, &files);
    for expected in ["not UTF-8", "NUL byte", "[\"bin.rasm\"]: included here"] {
        assert!(binary.contains(expected), "{binary}");
    }
    assert!(!binary.contains("y1"), "it may be declared in what could not be read: {binary}");
}

#[test]
fn a_procedure_with_a_broken_head_is_not_reported_as_missing() {
    let text = ".proc p(in x y)\n.end\n\tcall p(1)\n";
    let said = refusal_of(text, &FilesInMemory::new());
    assert!(!said.contains("no procedure"), "its head is broken, but it is there: {said}");
}

#[test]
fn includes_nest_to_a_depth() {
    let chain = |length: u32| {
        let within = (1..length).fold(FilesInMemory::new(), |files, n| {
            files.with(format!("f{n}"), format!(".include \"f{}\"\n", n + 1))
        });
        within.with(format!("f{length}"), ".in x\n")
    };
    let text = ".include \"f1\"\n";
    assert!(assembly_of(text, &chain(64)).module.is_some());
    assert!(refusal_of(text, &chain(65)).contains("includes nest more than 64 deep"));
}

#[test]
fn an_unrepresentable_path_is_refused() {
    for path in ["a\tb", &"a".repeat(5000)] {
        let files = FilesInMemory::new().with(path, "");
        let said = refusal_of(&format!(".in x\n.include \"{path}\"\n"), &files);
        assert!(said.starts_with("this path is too long, or has control characters"), "{said}");
    }
}

#[test]
fn recorded_files_must_fit_the_code() {
    for (records, reason) in [
        (".lines 1, 2, 1\n.path \"a\"\n.file 1 1\n.file 1 0", "the files are out of order"),
        (".lines 1, 2, 1\n.path \"a\"\n.file 3 1", "the first instruction of a file is outside of the code"),
        (".lines 1, 2, 1\n.path \"a\"\n.file 1 2", "a line belongs to a file that isn't recorded"),
        (".lines 1, 2, 1\n.path \"a\tb\"", "`a\\tb` can't be the path of a file"),
        (".lines 1, 2, 1\n.path a", "expected a path in quotes"),
        (".lines 1, 2, 1\n.file 1 a", "expected the number of a file"),
    ] {
        let said = refusal(&format!(".inout x\n\tadd x, 1\n{records}\n"));
        assert!(said.starts_with(reason), "{said}");
    }
    assert!(assembly(".inout x\n\tadd x, 1\n.lines 1, 2, 1\n.path \"a\"\n.file 1 1\n").module.is_some());
}

#[test]
fn unsupported_instructions_are_warnings() {
    let assembly = assembly(".inout x: real\n\tgrad.on\n\tadd x', 1\n\tgrad.off\n");
    assert!(assembly.module.is_some());
    for diagnostic in &assembly.diagnostics {
        assert_eq!(diagnostic.severity, Severity::Warning, "{}", shown(&assembly, diagnostic));
    }
}

#[test]
fn the_number_of_diagnostics_is_limited() {
    let text: String = (0..100_000).map(|n| format!("\tadd unknown{n}, 1\n")).collect();
    let assembly = assembly(&text);
    assert!(errors(&assembly).len() < 1_000);
    let said: String = errors(&assembly).iter().map(|d| shown(&assembly, d)).collect();
    assert!(said.contains("more problems are not listed"));
}

/// Checks the complete warnings about stacks, one per text.
#[test]
fn a_stack_that_cannot_be_emptied_is_a_warning() {
    for (text, expected) in [
        (
            ".inout x\n push x\n",
            "the program pushes an integer here, but never pops one [push x] | declare `.garbage NAME[]`: then the stack may have values at the end",
        ),
        (
            ".inout x: real\n.in given[]: real\n push x\n",
            "the program pushes a real here, but never pops one [push x] | declare `given` by `.inout` instead of `.in`: then the stack may have values at the end",
        ),
        (
            ".inout x\n pop x\n",
            "the program pops an integer here, but never pushes one [pop x] | declare `.in NAME[]`: then the user gives the values of the stack",
        ),
        (
            ".inout x\n.out kept[]\n pop x\n",
            "the program pops an integer here, but never pushes one [pop x] | declare `kept` by `.inout` instead of `.out`: then the user gives the values of the stack",
        ),
        (
            ".inout x\n.var s[]\n push x\n",
            "the program pushes an integer here, but never pops one [push x] | declare `s` by `.garbage` instead of `.var`: then the stack may have values at the end",
        ),
        (".inout x: real\n.var s[]\n push x\n pop x\n", "nothing uses the stack `s` [s]"),
        // The other texts cause no warning: with `uncall` a `push` may act as a `pop`, the stack has both a
        // push and a pop, or it is declared with a suitable role.
        (".inout x\n.garbage s[]\n push x\n", ""),
        (".inout x\n.in s[]\n pop x\n", ""),
        (".inout x\n.var _s[], _c\n add x, 1\n", ""),
        (".inout x\n add x, 1\n.proc p(inout y)\n push y\n.end\n", "nothing calls the procedure `p` [p]"),
        (".inout x\n add x, 1\n.proc p(inout y)\n push y\n call p(y)\n.end\n", ""),
        (".inout x\n push x\n pop x\n", ""),
        (".inout x\n call p(x)\n uncall p(x)\n.proc p(inout y)\n push y\n.end\n", ""),
    ] {
        let assembly = assembly(text);
        let said: Vec<String> = assembly.diagnostics.iter().map(|d| shown(&assembly, d)).collect();
        assert_eq!(said.join("\n").trim(), expected, "{text}");
    }
}

#[test]
fn unused_declarations_are_warnings() {
    let files = FilesInMemory::new().with("lib.rasm", ".var w\n.proc q(inout a)\n\tadd a, 1\n.end\n");
    let text = ".include \"lib.rasm\"\n.in x, y\n.var i, A[4], spare\n.proc p(inout a)\n\tcall q(a)\n.end\n\
                .proc lonely()\n\tcall p(A[i+1])\n.end\n\tadd y, 1\n";
    let assembly = reviver_assembler::assemble::assemble("main.rasm", text.into(), &files);
    assert!(assembly.module.is_some());
    let said: Vec<&str> = assembly.diagnostics.iter().map(|d| d.message.as_str()).collect();
    let expected = [
        "the input `x` isn't cleared: it ends with its input value",
        "the input `y` isn't cleared: it ends with its input value, plus 1",
        "nothing uses the cell `spare`",
        "nothing calls the procedure `lonely`",
    ];
    assert_eq!(said, expected);
}

/// Checks that an unknown name is one error, and that its consequences aren't reported.
#[test]
fn an_unknown_name_is_one_error() {
    for (text, expected) in [
        (
            ".in x: real\n local g = mul(unknown, x)\n add x, g\n add x, unknown\n delocal g = mul(unknown, x)\n",
            "unknown",
        ),
        (".in x: real\n.const N = K + 1\n.var A[N]: real\n add A[3], x\n add x, N\n add x, A[K]\n", "K"),
        (".in x\n mov x, 1\n mov x, 2\n", "mov"),
        (".in x\n call p(x)\n uncall p(x)\n", "p"),
    ] {
        let assembly = assembly(text);
        let errors = errors(&assembly);
        let said: Vec<String> = errors.iter().map(|error| shown(&assembly, error)).collect();
        assert!(said.len() <= 2 && said[0].contains(&format!("`{expected}`")), "{said:?}");
        let messages: std::collections::HashSet<&str> = errors.iter().map(|e| e.message.as_str()).collect();
        assert_eq!(messages.len(), said.len(), "{said:?}");
    }
    let assembly = assembly(".in x\n add x, u\n add x, u\n add x, u\n");
    assert_eq!(errors(&assembly)[0].primary.text, "unknown name, used 2 more times");
}

/// Checks that the manual's example of each keyword or directive is a program that uses the word.
#[test]
fn examples_of_the_manual_assemble() {
    use reviver_isa::language::{DIRECTIVE_PAGES, KEYWORD_PAGES};
    for page in KEYWORD_PAGES.iter().chain(DIRECTIVE_PAGES).filter(|page| !page.example.is_empty()) {
        module(page.example);
        assert!(page.words.iter().any(|word| page.example.contains(word)), "{}", page.example);
    }
}

/// Checks that words of other languages are answered with valid instructions.
#[test]
fn words_of_other_languages_get_a_suggestion() {
    for (line, help) in [
        ("mov x, 5", "write `add x, 5` if x is 0"),
        ("inc x", "write `add x, 1`"),
        ("ret", "move the line to the `.end`"),
        ("jmp there", "`here: br there, always`"),
        ("goto there", "`here: br there, always`"),
        ("je there", "`here: br there, a == b`"),
        ("cmp x, y", "`if x < y … fi`"),
        ("x = 5", "write `add x, 5` if x is 0"),
        ("x := y", "write `add x, y` if x is 0"),
        ("x = y * z", "write `add x, y * z` if x is 0"),
        ("x = x + 1", "write `add x, 1`"),
        ("x += y*z", "write `add x, y*z`"),
        ("A[0] -= y", "write `sub A[0], y`"),
        ("x ^= y", "write `xor x, y`"),
        ("x *= y", "`add t, x * y`, which adds the result"),
        ("x++", "write `add x, 1`"),
        ("x--", "write `sub x, 1`"),
        ("print x", "write `show x`"),
        ("while x < y", "write `from entry … until exit`"),
        ("endif", "end an `if` with `fi condition`"),
        ("end", "end `.proc` with `.end`"),
        ("mul.add x, y, z", "did you mean `add.mul`?"),
        ("mul x, y, z", "`add.mul y, a, b`"),
        ("exp x, y", "`add y, exp(a)`"),
        ("x = x * y", "`add t, x * y`, which adds the result"),
        ("x = x - y - z", "`add t, x - y - z`, which adds the result"),
    ] {
        let said = refusal(&format!(".in x, y, z, A[3]\n        {line}\n"));
        assert!(said.contains(help), "{line}: {said}");
    }
    for line in ["xor.exq x, y", "adx.mull x, y, z", "swp.mul x, y", "rol.sinn x, y"] {
        let said = refusal(&format!(".in x, y, z\n        {line}\n"));
        if let Some((_, meant)) = said.split_once("did you mean `") {
            let meant = meant.split('`').next().unwrap();
            let fits =
                |operands: &str| assembly(&format!(".in x, y, z\n {meant} {operands}\n")).module.is_some();
            assert!(fits("x, y") || fits("x, y, z"), "{line}: {said}");
        }
    }
}

/// Checks that the time for many warnings or many arguments is linear in the length of the text.
#[test]
fn warnings_and_arguments_take_linear_time() {
    let outputs = |n: usize| {
        let names: Vec<String> = (0..n).map(|i| format!("o{i}")).collect();
        format!(".out {}\n", names.join(", "))
    };
    let arguments = |n: usize| {
        let list = |prefix: &str| (0..n).map(|i| format!("{prefix}{i}")).collect::<Vec<_>>().join(", ");
        let all = list("o");
        format!(".out {all}\n call p({all})\n.proc p({})\n add a1, 1\n.end\n", list("inout a"))
    };
    for text in [outputs(64_000), arguments(40_000)] {
        let start = std::time::Instant::now();
        let assembly = assembly(&text);
        let said = reviver_assembler::render::render(&assembly.sources, &assembly.diagnostics, false);
        assert!(start.elapsed() < std::time::Duration::from_secs(20), "took {:?}", start.elapsed());
        assert!(assembly.diagnostics.len() <= 101, "{} diagnostics", assembly.diagnostics.len());
        assert!(said.contains("more warnings are not listed"), "{said}");
        assert!(said.len() < 200_000, "{} bytes are said", said.len());
    }
}
