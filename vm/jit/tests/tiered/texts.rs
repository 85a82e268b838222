//! Programs under test. Each uses much of the language.

/// Program with nested loops, branches, arrays, calls in both directions, floats that lose bits, a stack, and `show`.
const MANY_THINGS: &str = "\
.in n default 7
.out A[5], sum: real, last
.ancilla x: real
.garbage left[]
for i in 0..n
    for j in 0..4
        add A[j], i
        if j > 1
            add.mul last, i, j
        else
            call halve(A, j)
        fi j > 1
        compute
            add x, toreal(j) * 0.1
            add x, 0.7
        apply
            add sum, x / 3
        uncompute
    rof
    local kept = i
    push kept
    delocal kept = 0
    show last
rof
.proc halve(inout V[], in k)
    add V[k+1], k
    xor V[k], 5
.end
";

/// Program with nested calls in both directions and in loops. The calls pass rows, columns, spans, elements, matrices
/// and arrays of a frame. Frames free floats, and one procedure calls itself.
const CALLS: &str = "\
.in n default 4
.out A[6], M[3,4], B[2,4]: real, sum: real, deep
for i in 0..n
    local r = i % 3
    call fill(A[1..r+3], M, i)
    uncall bump(M[r, ..], A[5], 3)
    call weigh(A[r], i)
    call blur(B[.., r], B[.., 3], sum, 0.3)
    call add_all(deep, M)
    delocal r = i % 3
rof
call down(deep, n)
.proc fill(inout V[], inout N[,], in k)
    for j in 0..len(V)
        add V[j], k
        call bump(N[.., j], V[0], k)
        uncall weigh(V[j], j)
    rof
.end
.proc bump(inout C[], inout a, in k)
.ancilla m, T[30]
    compute
        add m, k + 1
        add T[1], m
        add T[m+9], T[1]
        call weigh(T[2], m)
    apply
        add C[0], T[2]
        if m > 3
            add C[1], m
            add a, T[1]
        fi m > 3
    uncompute
.end
.proc weigh(inout c, in k)
    add c, k
    xor c, 3
.end
.proc blur(inout C[]: real, inout D[]: real, inout s: real, in f: real)
.ancilla t: real, U[12]: real, last: real
    add t, f
    add s, t * 0.7
    call grow(U, t)
    add s, U[1] / 3
    add C[1], U[0]
    add D[0], C[1] * U[1]
    uncall grow(U, t)
    add last, t / 3e13
    sub t, 0.1
    sub t, f - 0.1
.end
.proc grow(inout V[]: real, in f: real)
    add V[0], f * 0.1
    add V[1], exp(V[0])
    add V[0], 0.7
.end
.proc add_all(inout s, in N[,])
    call add_them(s, N)
.end
.proc add_them(inout s, in V[])
    for i in 0..len(V)
        add s, V[i]
    rof
.end
.proc down(inout s, in k)
    if k > 0
        local less = k - 1
        call down(s, less)
        add s, less
        delocal less = k - 1
    fi k > 0
.end
";

/// Program with an `in` parameter that is used only to compute arguments. The argument for this parameter is an array
/// element, which other steps change by name.
const INDICES: &str = "\
.in j default 2
.out A[4], B[4]
for r in 0..30
    add A[2], 1
    call at(B, A[j])
    sub A[2], 1
    call twice(A, B)
rof
.proc bump(inout x)
    add x, 1
.end
.proc at(inout v[], in i)
    call bump(v[i])
.end
.proc twice(inout v[], inout w[])
    for k in 0..3
        add v[k+1], 1
        call at(w, v[k+1])
        sub v[k+1], 1
    rof
.end
";

/// Program that names adjoints with the mode off: in main, and in successive frames.
const NAMED_ADJOINTS: &str = "\
.out y: real
.inout x: real default 1
for r in 0..20
    add x', 0.5
    call p(y)
    call p(y)
    call q(y)
    add y, x'
rof
.proc p(inout y: real)
.ancilla t: real
    add t', 1.0
    add y, t'
.end
.proc q(inout y: real)
.ancilla u: real, U[12]: real, k
    add k, 3
    add U'[k], 0.25
    add y, U'[k]
    add y, u'
    sub k, 3
.end
";

/// Program with recursions: direct and mutual, backward, through an inlined callee, and in loops. The calls pass spans,
/// rows and elements. Frames have variables and arrays, and callees name main's cells.
const RECURSIONS: &str = "\
.inout n default 3
.out A[8] = {7, 1, 6, 2, 5, 3, 4, 0}, M[3,4], moves, sum: real, evens, told
.ancilla a, b
for i in 0..2
    call pair(n, a, b)
    add moves, a
    uncall pair(n, a, b)
    add evens, i
    call even(evens, n)
    call spread(A[i..8], M[.., i], i)
rof
call walk(M, n, 0, 2, 1)
call fall(sum, n)
uncall even(moves, n)
.proc pair(inout n, inout a, inout b)
    if n == 0
        add b, 1
    else
        sub n, 1
        call pair(n, a, b)
        add a, b
        swap a, b
    fi a == 0
.end
.proc even(inout c, in k)
    if k > 0
        call odd(c, k - 1)
        add c, k
    fi k > 0
.end
.proc odd(inout c, in k)
.ancilla T[9], t
    if k > 0
        add t, k * 3
        add T[k], t
        uncall even(c, k - 1)
        add told, 1
        xor c, T[k]
        sub T[k], t
        sub t, k * 3
    fi k > 0
.end
.proc spread(inout V[], inout C[], in k)
    local l = len(V) / 2
    if l > 0
        call spread(V[0..l], C, k)
        add C[l % 3], V[l]
        uncall spread(V[l..len(V)], C, l)
        add V[0], k
    fi l > 0
    delocal l = len(V) / 2
.end
.proc walk(inout N[,], in disks, in source, in target, in spare)
    if disks > 0
        call walk(N, disks - 1, source, spare, target)
        call carry(N[source, ..], N[target, disks % 4], disks)
        call walk(N, disks - 1, spare, target, source)
    fi disks > 0
.end
.proc carry(inout R[], inout x, in disks)
    add R[0], 1
    add x, disks
    add moves, 1
    if disks > 2
        call walk(M, 1, 0, 1, 2)
    fi disks > 2
.end
.proc fall(inout s: real, in k)
.ancilla t: real, U[10]: real
    add t, toreal(k) * 0.1
    add s, t / 3
    if k > 0
        add U[k], 0.3
        call fall(U[0], k - 1)
        add s, U[0] * U[k]
        uncall fall(U[0], k - 1)
        sub U[k], 0.3
    fi k > 0
    sub t, 0.1
    sub t, toreal(k) * 0.1 - 0.1
.end
";

/// Programs, each with the number of steps of a run.
pub const TRIED: [(&str, u64); 5] =
    [(MANY_THINGS, 400), (CALLS, 700), (INDICES, 900), (NAMED_ADJOINTS, 380), (RECURSIONS, 1141)];

/// Program with `compute … apply … uncompute`: nested, in loops, branches and callees, in both directions, and with
/// computed indices of array elements.
const PAIRS: &str = "\
.in n default 5
.out A[6], s, r: real, M[2,9]
.inout B[4] default 3
.ancilla t, V[12], u: real, W[9]: real
for i in 0..n
    compute
        add t, i + 2
        for j in 0..t
            add V[j], j * t
            add W[j], toreal(j) * 0.5
        rof
        compute
            for j in 0..2
                add u, W[j+1] * 2.0
            rof
        apply
            add r, u
        uncompute
    apply
        if t > 4
            add s, V[3]
        else
            add s, V[1]
        fi t > 4
        add A[i], V[t-1]
        call q(A, s, t)
        uncall q(M[1, ..], s, i)
    uncompute
    compute
        for j in 0..3
            add B[j], B[j+1]
        rof
    apply
        add s, B[0]
    uncompute
    compute
        from t == 0
            add u, toreal(t)
        loop
            add t, 2
        until t >= i + 3
        if u > 3.0
            add t, 1
        else
            add t, 2
        fi u > 3.0
    apply
        add s, t
    uncompute
rof
.proc q(inout C[], inout z, in k)
.ancilla m, T[20], x
    compute
        for j in 0..k
            add T[j], j + k
        rof
        call fill(T[10..20], k)
        add m, T[1]
        if m > 3
            add x, 2
        else
            add x, 1
        fi m > 3
    apply
        add C[0], T[2] + x
        add z, T[11]
    uncompute
    uncall fill(C[1..4], k)
.end
.proc fill(inout T[], in k)
    compute
        local h = k * 2
    apply
        add T[0], h
        add T[1], h + 1
    uncompute
.end
";

/// Returns programs over exact numbers, for which a restored cell equals the uncomputed one.
pub fn lossless() -> impl Iterator<Item = (String, u64)> {
    let tried = TRIED[..3].iter().copied().chain([(PAIRS, 1480)]);
    tried.map(|(text, steps)| (format!(".real fixed\n{text}").replace("t / 3e13", "t - t"), steps))
}
