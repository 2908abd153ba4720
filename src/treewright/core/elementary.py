"""Numbers with the same bits on every processor: exp, log and power, sums of products, whole-number parameters.

Sums of products are not a matrix product of BLAS: that adds in an order that depends on the processor, and while a
process forks, a call of it in another thread never returns.

NumPy and the C library choose another form of these functions for every generation of processors, and the forms
differ in the last bit. A gain, a leaf or a share that passes through one of them would differ with it. The functions
here are made of additions, multiplications and divisions, which IEEE 754 fixes, in an order that no compiler may
change: the series of ``exp`` and of ``atanh`` after the argument is brought near 0 (Cody and Waite, Software Manual
for the Elementary Functions, 1980), with the roundings of the first terms carried along where they would show. They
are within one unit in the last place of the true value (``expm1`` two), which ``tests/unit/core/test_elementary.py``
compares with 60 digits.

Kernels call the functions of one number, Python those of arrays or numbers (``exp_of`` and so on). ``sqrt`` needs no
form of its own: IEEE 754 fixes it too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.core.jit import costs, inner_kernel, kernel
from treewright.exceptions import ParameterError

__all__ = [
    "LOG_OF_2",
    "angle",
    "angle_of",
    "exp",
    "exp_of",
    "expm1",
    "expm1_of",
    "log",
    "log1p",
    "log1p_of",
    "log2",
    "log2_of",
    "log_add",
    "log_add_of",
    "log_gamma",
    "log_gamma_of",
    "log_of",
    "power",
    "power_of",
]


def is_whole(value: Any) -> bool:
    """Whether something is a whole number; True and False are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def whole_number(name: str, value: Any, least: int) -> int:
    """A parameter as an int that is at least ``least``.

    Examples
    --------
    >>> whole_number("repeats", 3, 1)
    3
    """
    if not is_whole(value) or value < least:
        raise ParameterError(f"{name}={value!r}: give a whole number >= {least}")
    return int(value)


_ROWS_AT_ONCE = 1 << 15  # cells: they stay in the second-level cache


@costs(lambda rows, products: rows.size * len(products) / 2)
@kernel
def add_products(rows: np.ndarray, products: np.ndarray) -> None:
    """Add the sum over the rows, in their order, of the products of each pair of columns.

    rows : float64[n, p], C-order, IN
    products : float64[p, p], symmetric, IN and OUT
    """
    n, p = rows.shape
    step = max(1, _ROWS_AT_ONCE // max(1, p))
    for begin in range(0, n, step):
        for at in range(p):
            sums = products[at]
            for row in range(begin, min(begin + step, n)):
                cell = rows[row, at]
                if cell != 0.0:
                    for other in range(at, p):
                        sums[other] += cell * rows[row, other]
    for at in range(p):
        for other in range(at):
            products[at, other] = products[other, at]


LOG_OF_2 = 0.6931471805599453
_LOG2_E = 1.4426950408889634
# ln 2 and 1 / ln 2 in two parts. The first has few bits: its product with an exponent, or with 21 bits, is exact.
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_LOG2_E_HIGH, _LOG2_E_LOW = 1.44269504072144627571e00, 1.67517131648865118353e-10
# Added to a number below 2**51, it rounds it to a whole number, which is then in the lowest bits.
_ROUNDS = 6755399441055744.0
_ROUNDS_BITS = np.int64(0x4338000000000000)
_SQRT_HALF_BITS = np.int64(0x3FE6A09E667F3BCD)
_HIGH_BITS = np.int64(-(2**32))
_HALVES = 134217729.0  # 2**27 + 1: its product with a number shows the upper half of the number's bits
_SMALLEST_NORMAL = 2.2250738585072014e-308
_LEAST, _MOST = -746.0, 710.0  # exp is 0 below and inf above
_TWO_THIRDS_LOW = 3.700743415417188e-17  # 2 / 3 less its rounding
_HALF_LOG_TWO_PI = 0.9189385332046727


@inner_kernel
def _upper_half(x: float) -> float:
    """The number made of the upper 26 bits of another (Veltkamp): products of such numbers are exact."""
    wide = x * _HALVES
    return wide - (wide - x)


@inner_kernel
def _product(a: float, b: float) -> tuple[float, float]:
    """A product and its rounding error (Dekker 1971)."""
    rounded = a * b
    a_high, b_high = _upper_half(a), _upper_half(b)
    a_low, b_low = a - a_high, b - b_high
    return rounded, ((a_high * b_high - rounded) + a_high * b_low + a_low * b_high) + a_low * b_low


@inner_kernel
def _sum(a: float, b: float) -> tuple[float, float]:
    """A sum and its rounding error; the first number is not the smaller one."""
    rounded = a + b
    return rounded, b - (rounded - a)


@inner_kernel
def _beyond_r(r: float, left_out: float) -> float:
    """exp(r + left_out) less 1 + r, for r up to ln(2) / 2 on either side of 0: the series up to r**13 / 13!."""
    q = r * (1 / 39916800 + r * (1 / 479001600 + r * (1 / 6227020800)))
    q = r * (1 / 40320 + r * (1 / 362880 + r * (1 / 3628800 + q)))
    q = 1 / 2 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120 + r * (1 / 720 + r * (1 / 5040 + q)))))
    return r * r * q + left_out


@inner_kernel
def _two_to_the(shifted: float) -> float:
    """2 to the power of k, a whole number from -1022 to 1023, given as ``_ROUNDS + k``."""
    return np.int64((np.float64(shifted).view(np.int64) + np.int64(1023)) << np.int64(52)).view(np.float64)


@inner_kernel
def _exp_of_sum(x: float, more: float) -> float:
    """exp(x + more), where more is a rounding error of x."""
    held = min(max(_LEAST, x), _MOST)
    n = (held * _LOG2_E + _ROUNDS) - _ROUNDS
    high = held - n * _LN2_HIGH
    low = more - n * _LN2_LOW
    r = high + low
    first, left_out = _sum(1.0, r)
    share = first + (left_out + _beyond_r(r, (high - r) + low))
    # In two steps: 2**-1075 and 2**1025 are no numbers, and what is below the normal numbers is rounded only once.
    half = n * 0.5 + _ROUNDS
    rest = (n - (half - _ROUNDS)) + _ROUNDS
    result = share * _two_to_the(half) * _two_to_the(rest)
    return result if x == x else x


@inner_kernel
def exp(x: float) -> float:
    """The exponential; 1 at 0, 0 below -746."""
    return _exp_of_sum(x, 0.0)


@inner_kernel
def expm1(x: float) -> float:
    """exp(x) - 1 without cancellation."""
    held = min(max(-50.0, x), _MOST)
    n = (held * _LOG2_E + _ROUNDS) - _ROUNDS
    high = held - n * _LN2_HIGH
    low = -n * _LN2_LOW
    r = high + low
    grown = r + _beyond_r(r, (high - r) + low)
    half = n * 0.5 + _ROUNDS
    first, second = _two_to_the(half), _two_to_the((n - (half - _ROUNDS)) + _ROUNDS)
    if n == 0.0 or x != x:
        return grown if abs(x) > 1e-300 else x  # a number so small is its own answer; also -0.0
    lost = 1.0 / (first * second) if n < 60.0 else 0.0
    return (grown + (1.0 - lost)) * first * second


@inner_kernel
def _parts(x: float) -> tuple[float, float]:
    """Exponent k and rest f of a finite x > 0: ``x = 2**k (1 + f)``, ``1 + f`` between the roots of 1/2 and of 2."""
    is_small = x < _SMALLEST_NORMAL
    wide = x * 18014398509481984.0 if is_small else x  # times 2**54
    bits = np.float64(wide).view(np.int64)
    k = (bits - _SQRT_HALF_BITS) >> np.int64(52)
    near_one = np.int64(bits - (k << np.int64(52))).view(np.float64)
    exponent = np.int64(k + _ROUNDS_BITS).view(np.float64) - _ROUNDS
    return (exponent - 54.0 if is_small else exponent), near_one - 1.0


@inner_kernel
def _atanh_tail(z: float) -> float:
    """``2 z / 5 + 2 z**2 / 7 + ...`` up to z**9: with ``z = s * s``, ``2 atanh(s) = s (2 + z (2 / 3 + tail))``."""
    upper = z * (2 / 15 + z * (2 / 17 + z * (2 / 19 + z * (2 / 21))))
    return z * (2 / 5 + z * (2 / 7 + z * (2 / 9 + z * (2 / 11 + z * (2 / 13 + upper)))))


@inner_kernel
def _beyond_f(f: float, half_square: float) -> float:
    """log(1 + f) less ``f - f**2 / 2``, for f between the roots of 1/2 and of 2, less 1."""
    s = f / (2.0 + f)
    z = s * s
    return s * (half_square + z * (2 / 3 + _atanh_tail(z)))


@inner_kernel
def _beyond(x: float, result: float) -> float:
    """The logarithm of a number without a finite one, else the result."""
    if not x > 0.0:
        return -np.inf if x == 0.0 else np.nan
    return x if x == np.inf else result


@inner_kernel
def _log_of_product(x: float, more: float) -> float:
    """log(x (1 + more)), where 1 + more is 1 up to a rounding error."""
    k, f = _parts(x)
    half_square = 0.5 * f * f
    low = _beyond_f(f, half_square) + (k * _LN2_LOW + more)
    return k * _LN2_HIGH - ((half_square - low) - f)


@inner_kernel
def log(x: float) -> float:
    """The natural logarithm; -inf at 0, NaN below."""
    return _beyond(x, _log_of_product(x, 0.0))


@inner_kernel
def log1p(x: float) -> float:
    """log(1 + x) without cancellation."""
    y = 1.0 + x
    if y == 1.0:  # a number so small is its own answer; also -0.0
        return x
    if -0.29 < x < 0.41:  # f itself, before 1 + x was rounded
        half_square = 0.5 * x * x
        return x - (half_square - _beyond_f(x, half_square))
    if not 0.0 < y < np.inf:
        return _beyond(y, y)
    return _log_of_product(y, (x - (y - 1.0) if x < 1.0 else 1.0 - (y - x)) / y)


@inner_kernel
def log2(x: float) -> float:
    """The logarithm to base 2; a whole number for every power of 2."""
    k, f = _parts(x)
    half_square = 0.5 * f * f
    # The first terms as a number of 21 bits and the rest, so that the product with the first part of log2(e) is exact.
    high = np.int64(np.float64(f - half_square).view(np.int64) & _HIGH_BITS).view(np.float64)
    low = (f - high) - half_square + _beyond_f(f, half_square)
    first = high * _LOG2_E_HIGH
    whole = k + first
    return _beyond(x, whole + (((k - whole) + first) + ((low + high) * _LOG2_E_LOW + low * _LOG2_E_HIGH)))


@inner_kernel
def power(x: float, y: float) -> float:
    """Power ``x ** y`` for x >= 0: exp of y log(x), with log(x) to twice the bits.

    ``2 atanh(s)`` is ``2 s + 2 s**3 / 3``, both with what their roundings leave out, and the series from ``s**5``.
    """
    if y == 0.0 or x == 1.0:
        return 1.0
    if not x >= 0.0 or y != y:
        return np.nan
    if x in (0.0, np.inf) or y == 1.0:
        return x if y > 0.0 else (np.inf if x == 0.0 else 0.0)
    if abs(y) > 1e25:
        return np.inf if (x > 1.0) == (y > 0.0) else 0.0
    k, f = _parts(x)
    sum_high, sum_low = _sum(2.0, f)
    s = f / sum_high
    back, back_low = _product(s, sum_high)
    s_low = ((f - back) - back_low - s * sum_low) / sum_high
    square, square_low = _product(s, s)
    square_low += 2.0 * s * s_low
    cube, cube_low = _product(s, square)
    cube_low += s * square_low + s_low * square
    third, third_low = _product(cube, 2 / 3)
    third_low += cube_low * (2 / 3) + cube * _TWO_THIRDS_LOW
    high, low = _sum(2.0 * s, third)
    low += (2.0 * s_low + third_low) + cube * _atanh_tail(square)
    scaled, scaled_low = _sum(k * _LN2_HIGH, high) if k != 0.0 else (high, 0.0)
    total, total_low = _sum(scaled, scaled_low + low + k * _LN2_LOW)
    wanted, wanted_low = _product(total, y)
    return _exp_of_sum(wanted, wanted_low + total_low * y)


@inner_kernel
def log_gamma(x: float) -> float:
    """Logarithm of the gamma function, for x > 0: Stirling's series from 10 on, shifted below.

    The error is at most 1e-14, relative to the result or, if that is below 1, absolute.
    """
    product = 1.0
    while x < 10.0:
        product *= x
        x += 1.0
    inverse = 1.0 / x
    z = inverse * inverse
    series = 1 / 1260 - z * (1 / 1680 - z * (1 / 1188 - z * (691 / 360360 - z * (1 / 156))))
    series = inverse * (1 / 12 - z * (1 / 360 - z * series))
    return (x - 0.5) * log(x) - x + _HALF_LOG_TWO_PI + series - log(product)


@inner_kernel
def log_add(first: float, second: float) -> float:
    """Logarithm of the sum of two numbers given by their logarithms."""
    high, low = max(first, second), min(first, second)
    if high == -np.inf:
        return high
    return high + log1p(exp(low - high))


# Angles whose tangents are 0, 1/4, ..., 1, and what their roundings leave out; and a right angle.
_ARCS = np.array([0.0, 0.24497866312686414, 0.4636476090008061, 0.6435011087932844, 0.7853981633974483])
_ARCS_LOW = np.array(
    [0.0, 1.0698755618734451e-17, 2.2698777452961687e-17, 1.5834785051444286e-17, 3.061616997868383e-17]
)
_RIGHT, _RIGHT_LOW = 1.5707963267948966, 6.123233995736766e-17


@inner_kernel
def angle(y: float, x: float) -> float:
    """The angle of the point (x, y), both from 0 and not both 0: ``atan2``.

    With t the nearest quarter, ``atan(z)`` is ``atan(t) + atan((z - t) / (1 + z t))``: the series of at most 1/8.
    """
    is_steep = y > x
    low, high = (x, y) if is_steep else (y, x)
    z = low / high
    at = np.int64(4.0 * z + 0.5)
    t = 0.25 * at
    r = (low - t * high) / (high + t * low)
    w = r * r
    series = 1 / 9 - w * (1 / 11 - w * (1 / 13 - w * (1 / 15 - w * (1 / 17))))
    beyond = r * w * (1 / 3 - w * (1 / 5 - w * (1 / 7 - w * series)))
    if is_steep:
        return (_RIGHT - _ARCS[at]) - (r - (beyond + (_RIGHT_LOW - _ARCS_LOW[at])))
    return _ARCS[at] + (r - (beyond - _ARCS_LOW[at]))


_EXP, _EXPM1, _LOG, _LOG1P, _LOG2, _POWER, _LOG_GAMMA, _LOG_ADD, _ANGLE = range(9)


@kernel
def _each(function: int, x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    """A function of every number, or of every pair.

    Parameters
    ----------
    function : int64
        One of the numbers above.
    x : float64[n], IN
    y : float64[n or 1], IN
        The second argument, if there is one; one for all, or one for each.
    out : float64[n], OUT
    """
    n = x.shape[0]
    step = 1 if y.shape[0] == n else 0
    if function == _EXP:
        for i in range(n):
            out[i] = exp(x[i])
    elif function == _EXPM1:
        for i in range(n):
            out[i] = expm1(x[i])
    elif function == _LOG:
        for i in range(n):
            out[i] = log(x[i])
    elif function == _LOG1P:
        for i in range(n):
            out[i] = log1p(x[i])
    elif function == _LOG2:
        for i in range(n):
            out[i] = log2(x[i])
    elif function == _POWER:
        for i in range(n):
            out[i] = power(x[i], y[i * step])
    elif function == _LOG_GAMMA:
        for i in range(n):
            out[i] = log_gamma(x[i])
    elif function == _LOG_ADD:
        for i in range(n):
            out[i] = log_add(x[i], y[i * step])
    else:
        for i in range(n):
            out[i] = angle(x[i], y[i * step])


_NONE = np.zeros(1)


def _mapped(function: int, x: Any, y: Any = None) -> Any:
    first = np.asarray(x, np.float64)
    second = _NONE if y is None else np.asarray(y, np.float64)
    if y is not None and second.ndim:
        first, second = np.broadcast_arrays(first, second)
    out = np.empty(first.shape)
    _each(function, np.ascontiguousarray(first).reshape(-1), np.ascontiguousarray(second).reshape(-1), out.reshape(-1))
    return out[()]  # a number for a number


def exp_of(x: Any) -> Any:
    """``exp`` of a number, or of every number of an array."""
    return _mapped(_EXP, x)


def expm1_of(x: Any) -> Any:
    """``expm1`` of a number, or of every number of an array."""
    return _mapped(_EXPM1, x)


def log_of(x: Any) -> Any:
    """``log`` of a number, or of every number of an array."""
    return _mapped(_LOG, x)


def log1p_of(x: Any) -> Any:
    """``log1p`` of a number, or of every number of an array."""
    return _mapped(_LOG1P, x)


def log2_of(x: Any) -> Any:
    """``log2`` of a number, or of every number of an array."""
    return _mapped(_LOG2, x)


def power_of(x: Any, y: Any) -> Any:
    """``power`` of numbers or arrays that broadcast."""
    return _mapped(_POWER, x, y)


def log_gamma_of(x: Any) -> Any:
    """``log_gamma`` of a number, or of every number of an array."""
    return _mapped(_LOG_GAMMA, x)


def log_add_of(first: Any, second: Any) -> Any:
    """``log_add`` of numbers or arrays that broadcast."""
    return _mapped(_LOG_ADD, first, second)


def angle_of(y: Any, x: Any) -> Any:
    """``angle`` of numbers or arrays that broadcast."""
    return _mapped(_ANGLE, y, x)
