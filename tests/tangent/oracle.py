"""Writes the expected values and gradients into the programs of this folder.

    python3 oracle.py           computes the numbers in all `;! grad` lines again
    python3 oracle.py --check   reports the lines that differ, and writes nothing

Needs mpmath (tried with 1.4.1), and nothing of Reviver. A function below has the name of a program, and the names of
its inputs. It is a formula for the function of the same name in Tangent's `tests/functions.py`, not a translation of
the program. Derivatives are central differences in numbers of 120 digits with a step of 1e-40, so that about 80 digits
are right. The nearest doubles are written.
"""
import inspect
import pathlib
import re
import sys

from mpmath import mp, mpf

mp.dps = 120
STEP = mpf(10) ** -40
WIDTH = 120


def total(numbers):
    return sum(numbers, mpf(0))


def flat(values):
    return [entry for row in values for entry in row] if isinstance(values[0], list) else list(values)


def product(a, b):
    return [[total(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def transposed(a, is_transposed):
    return [list(column) for column in zip(*a)] if is_transposed else a


# Scalars, in the order of Tangent's file.


def id_(a): return a
def unary_sub(a): return -a
def sum_(x): return total(x)
def overwrite_call(x): return total(x) ** 2
def tanh(a): return mp.tanh(a)
def identity_assign(a): return a
def increment(a): return a + 1
def saxpy(a, b, c): return a * b + c
def mul(a, b): return a * b
def add(a, b): return a + b
def gradname_aliasing(a): return a ** 2
def overwrite_if(a): return (3 if a > 0 else 2) * a
def test_binop_mul1(a): return 3 * a
def test_binop_mul3(a): return a ** 2
def test_binop_div1(a): return a / 3
def test_binop_div2(a): return 3 / a
def test_binop_div3(a): return mpf(1)
def test_binop_sub1(a): return a - 3
def test_binop_sub2(a): return 3 - a
def test_binop_sub3(a): return mpf(0)
def test_binop_add1(a): return a + 3
def test_binop_add3(a): return 2 * a
def nested_if(a): return 3 * a if a <= 0 else a ** 2 if a < 10 else a


def multiarg_if(a):
    b = 4 if a == 0 else 3
    s = a * b
    return s ** 2 if s < b / mpf(1 + b) else -s


def fn_multiple_return(a): return {"twice": 2 * a, "once": a}
def test_anf_list(a): return a ** 2 + 3
def test_deep_anf_list(x): return 4 + x[0] * x[1] * x[2]
def test_subscript1(x): return x[0] * x[1]
def test_subscript2(x): return x[0] * x[1] + total(x[1:])
def test_subscript3(x): return (x[0] * x[1] * x[2]) ** 2 + x[1] ** 3 + x[2] ** 3


def serial_if(a):
    twice = 2 * a ** 2 if a > 0 else 2 * a
    return 3 * twice if twice < 0 else twice


def multivar_if(a, b): return a * max(a, b)
def serial_for(a, n): return 2 * a ** 2 ** n * 3 ** (n + 1)
def serial_ifthenfor(a, n): return (2 * a ** 2 if a > 0 else 2 * a) ** 2 ** n
def serial_forthenif(a, n): return (2 * a ** 2 ** n) ** (2 if a > 0 or n > 0 else 1)
def devilish_nested_if(a): return a if a <= 0 else 9 * a ** 2 if 3 * a < 10 else 6 * a
def overwrite_ifelse(a): return {1: 3, -1: 2, 0: 1}[int(mp.sign(a))] * a
def overwrite_arg(a): return 3 * a
def third_pow(a): return a ** 3
def iterpower_static(a): return a ** 8
def iterpower(a, n): return a ** 2 ** n


def cond_iterpower1(a):
    for _ in range(3):
        a = a ** 2 if a < 20 else a
    return a


def cond_iterpower2(a): return a ** 8 if a < 20 else a
def superfor_iterpower(a): return a ** 64
def super_iterpower(a): return a ** 27
def numpy_mean(x): return total(x) / len(x)
def numpy_exp(a): return mp.exp(a)
def numpy_exp2(a): return mp.exp(mp.exp(a))
def numpy_sqrt(a): return mp.sqrt(abs(a))
def numpy_cos(a): return mp.cos(a)
def numpy_sin(a): return mp.sin(a)
def numpy_tan(a): return mp.tan(a)
def numpy_cosh(a): return mp.cosh(a)
def numpy_sinh(a): return mp.sinh(a)
def numpy_arccos(a): return mp.acos(a)
def numpy_arcsin(a): return mp.asin(a)
def numpy_arctan(a): return mp.atan(a)


def logistic_regression(input, label, W, b):
    loss = mpf(0)
    for sample, is_true in zip(input, label):
        probability = 1 / (1 + mp.exp(-2 * (b + total(x * w for x, w in zip(sample, W)))))
        loss -= mp.log(probability * is_true + (1 - probability) * (1 - is_true))
    return loss


def det(sqm):
    a, b, c = sqm
    cross = [b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]]
    return total(x * y for x, y in zip(a, cross))


# Arrays. The loss `total` is the sum of all elements; Tangent's tests use it, too.


def tfe_negative(t): return [-x for x in t]
def tfe_exp(t): return [mp.exp(x) for x in t]
def tfe_log(t): return [mp.log(x) for x in t]
def tfe_tanh(t): return [mp.tanh(x) for x in t]
def tfe_cosh(t): return [mp.cosh(x) for x in t]
def tfe_sinh(t): return [mp.sinh(x) for x in t]
def tfe_rsqrt(t): return [x ** mpf("-0.5") for x in t]
def tfe_reshape_flat(t): return flat(t)
def tfe_reduce_sum(timage): return total(flat(timage))
def tfe_reduce_sum_axis(timage): return [total(channel) for channel in zip(*timage)]
def tfe_reduce_mean(timage): return total(flat(timage)) / len(flat(timage))
def tfe_reduce_mean_axis(timage): return [total(channel) / len(channel) for channel in zip(*timage)]
def tfe_reduce_max(timage): return max(flat(timage))
def tfe_reduce_max_axis(timage): return [max(channel) for channel in zip(*timage)]
def tfe_add(t1, t2): return [x + y for x, y in zip(t1, t2)]
def tfe_add_bcast(s, t): return [s + x for x in t]
def tfe_subtract(t1, t2): return [x - y for x, y in zip(t1, t2)]
def tfe_multiply(t1, t2): return [x * y for x, y in zip(t1, t2)]
def tfe_divide(t1, t2): return [x / y for x, y in zip(t1, t2)]
def tfe_maximum(t1, t2): return [max(x, y) for x, y in zip(t1, t2)]
def tfe_squared_difference(t1, t2): return [(x - y) ** 2 for x, y in zip(t1, t2)]


def tfe_matmul(mat1, mat2, boolean1, boolean2):
    return product(transposed(mat1, boolean1), transposed(mat2, boolean2))


def tfe_matmul_highdim(timage1, timage2, boolean1, boolean2):
    upper = tfe_matmul(timage1[:2], timage2[:2], boolean1, boolean2)
    return upper + tfe_matmul(timage1[2:], timage2[2:], boolean1, boolean2)


def windows(image, size, stride):
    """Returns the windows of TensorFlow's padding `SAME`: lists of (row, column, pixel), without the padding."""
    count = -(-len(image) // stride)
    before = max((count - 1) * stride + size - len(image), 0) // 2

    def window(top, left):
        places = [(u, v, top + u, left + v) for u in range(size) for v in range(size)]
        inside = range(len(image))
        return [(u, v, image[i][j]) for u, v, i, j in places if i in inside and j in inside]

    starts = [i * stride - before for i in range(count)]
    return [[window(top, left) for left in starts] for top in starts]


def tfe_conv2d(timage, tkernel, conv2dstrides):
    rows = windows(timage, 3, conv2dstrides)
    return [[total(tkernel[u][v] * pixel for u, v, pixel in window) for window in row] for row in rows]


def tfe_max_pool(timage, conv2dstrides):
    return [[max(pixel for _, _, pixel in window) for window in row] for row in windows(timage, 2, conv2dstrides)]


def tfe_avg_pool(timage, conv2dstrides):
    rows = windows(timage, 2, conv2dstrides)
    return [[total(pixel for _, _, pixel in window) / len(window) for window in row] for row in rows]


def tfe_trace_fn(t): return total(x ** 2 for x in t)


# Calls, subscripts, and the rest.


def unpacking_args_saxpy(abc): return abc[0] * abc[1] + abc[2]
def passthru_pack(a, b, c, i): return [a, b, c][i]
def passthru_unpack(abc): return abc[0]
def cart2polar(a, b): return {"r": mp.sqrt(a ** 2 + b ** 2), "theta": mp.atan2(b, a)}


def inlining_contextmanager(a, start):
    """Has the value a³ and, because 0.1 of the last factor doesn't change with a, the derivative 2.9a²."""
    return a ** 2 * (mpf("0.9") * a + mpf("0.1") * start["a"])


def listcomp(x): return 3 * total(x)


def while_big(a):
    while abs(a) > 0.1:
        a /= 2
    return a


def active_subscript(x): return total(x)
def init_array_grad_maybe_active(x): return 3 * total(x)
def slicing(x): return total(x[1:])


def rnn(inputs, W):
    steps = [total(row) for row in product(inputs, W)]
    return total((len(steps) - t) * step for t, step in enumerate(steps))


def augassign(a): return a ** 4


def bilinear(x, h, U, W, b):
    sums = zip(flat(product([x], W)), flat(product([h], U)), b)
    return total(mp.tanh(total(parts)) for parts in sums)


def stack_pushing(a): return a ** 4
def gradgrad_pow(a, b): return abs(a) ** b
def gradgrad_pow_twice(a): return a ** 4
def gradgrad_chain_of_mults(a): return a ** 8
def useless_stack_ops(a): return a
def extended_slice(x): return total(x[::2])


# Functions that Tangent writes in other ways.
saxpy_call = saxpy_anf = saxpy_overwrite = saxpy
test_binop_mul2 = fn_multiply = overwrite_non_arg = overwrite_arg
test_binop_add2 = test_binop_add1
test_list_and_subscript = id_
test_implicit_indexing = sum_
direct_third_pow = iter_third_pow1 = iter_third_pow2 = third_pow
mul_with_call = if_mul_with_call = nested_call = mul
iterpower_with_call = iterpower_with_nested_def = iterpower
gradgrad_chain_of_multcalls = gradgrad_chain_of_mults


def shaped(numbers, shape):
    """Returns a number, a list, or a list of rows."""
    if not shape:
        return numbers[0]
    if len(shape) == 1:
        return list(numbers)
    return [list(numbers[k:k + shape[1]]) for k in range(0, len(numbers), shape[1])]


def inputs_of(text):
    """Returns for each input its shape, and its defaults as text."""
    inputs = {}
    declaration = r"(\w+)(?:\[([\d, ]+)\])?(?:: real)? default (\{[^}]*\}|[^,;\n]+)"
    for line in re.findall(r"^\.inout (.*)$", text, re.M):
        for name, shape, default in re.findall(declaration, line):
            shape = [int(length) for length in shape.split(",")] if shape else []
            inputs[name] = (shape, default.strip("{} ").split(","))
    return inputs


def numbers_of(words, is_real):
    """Returns the doubles, or integers, that the words are."""
    return [mpf(float(word)) if is_real else int(word) for word in words]


def component(value, loss):
    """Returns the number that a loss denotes: `y`, `y[1]`, `y[1,2]`, `total`, or a name of several results."""
    if isinstance(value, dict):
        return value[loss]
    if loss == "total":
        return total(flat(value))
    for index in re.findall(r"\d+", loss.partition("[")[2]):
        value = value[int(index)]
    return value


def expected(name, text, loss, given):
    """Returns the value of the loss, and for each real input its shape and the derivatives by its elements."""
    declared = inputs_of(text)
    given = dict(word.split("=") for word in given)
    is_real = {name: re.search(rf"\b{name}(\[[\d, ]+\])?: real", text) is not None for name in declared}
    start = {
        name: numbers_of(given[name].split(",") if name in given else default, is_real[name])
        for name, (_, default) in declared.items()
    }
    function = globals()[name]
    names = inspect.signature(function).parameters

    def value(numbers):
        arguments = {name: shaped(numbers[name], shape) for name, (shape, _) in declared.items()}
        if "start" in names:
            arguments["start"] = {name: shaped(start[name], shape) for name, (shape, _) in declared.items()}
        return component(function(**arguments), loss)

    def derivative(name, k):
        def moved(step):
            numbers = dict(start)
            numbers[name] = [x + step * (n == k) for n, x in enumerate(start[name])]
            return value(numbers)
        return (moved(STEP) - moved(-STEP)) / (2 * STEP)

    reals = [name for name in declared if is_real[name]]
    by = {name: [derivative(name, k) for k in range(len(start[name]))] for name in reals}
    return value(start), {name: (declared[name][0], numbers) for name, numbers in by.items()}


def written(number):
    """Returns the shortest text of the nearest double. Less than 1e-60 is the error of a difference."""
    text = repr(float(number)) if abs(number) > 1e-60 else "0"
    return text.removesuffix(".0")


def lines_of(left, words):
    """Returns the lines of an expectation. Each line has as many words as fit."""
    lines = []
    for word in words:
        if lines and len(f"{lines[-1]} {word}") <= WIDTH:
            lines[-1] += f" {word}"
        else:
            lines.append(f"{left} -> {word}")
    return lines


def words_of(value, derivatives):
    """Returns the words of an expectation. A long array has a word for each element."""
    yield f"value~{written(value)}"
    for name, (shape, numbers) in derivatives.items():
        word = f"{name}~{','.join(written(number) for number in numbers)}"
        if len(word) <= WIDTH // 2:
            yield word
            continue
        for k, number in enumerate(numbers):
            index = f"{k // shape[1]},{k % shape[1]}" if len(shape) == 2 else k
            yield f"{name}[{index}]~{written(number)}"


def updated(path):
    """Returns the text of a program with new expectations."""
    text = path.read_text()
    lines, before = [], None
    for line in text.split("\n"):
        left, arrow, right = line.partition(" ->")
        if not (arrow and left.startswith(";! grad ")):
            lines.append(line)
            before = None
            continue
        # Lines with the same inputs are one row of the table.
        if left != before:
            loss, *given = left.removeprefix(";! grad ").split()
            others = [word for word in right.split() if "~" not in word]
            lines += lines_of(left, [*words_of(*expected(path.stem, text, loss, given)), *others])
        before = left
    return "\n".join(lines)


def main():
    differing = 0
    for path in sorted(pathlib.Path(__file__).parent.glob("*.rasm")):
        text = updated(path)
        if text != path.read_text():
            differing += 1
            print(f"{path.name} {'differs' if '--check' in sys.argv else 'is rewritten'}")
            if "--check" not in sys.argv:
                path.write_text(text)
    sys.exit(1 if differing and "--check" in sys.argv else 0)


main()
