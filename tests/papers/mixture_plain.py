"""Checks programs/mixture_plain.rasm: ADBench's objective with matrices of 40 digits, derivatives by differences."""

import mpmath

mpmath.mp.dps = 40
D, K, N, m = 2, 3, 4, 2
parameters = {
    "alphas": [0.1, -0.4, 0.3],
    "means": [0.5, -1, 1.5, 0.25, -0.75, 2],
    "icf": [0.2, -0.1, 0.5, -0.3, 0.4, -0.2, 0.1, 0.3, 0.7],
    "x": [0.4, -0.9, 1.7, 0.1, -0.5, 1.8, 0.2, 0.6],
    "gamma": [1.5],
}
parameters = {name: [mpmath.mpf(v) for v in values] for name, values in parameters.items()}


def log_sum_exp(v):
    return mpmath.log(mpmath.fsum(mpmath.exp(t) for t in v))


def objective(p):
    alphas, gamma = p["alphas"], p["gamma"][0]
    factors = []
    for k in range(K):
        a, b, c = p["icf"][3 * k : 3 * k + 3]
        factors.append((mpmath.matrix([[mpmath.exp(a), 0], [c, mpmath.exp(b)]]), a + b))
    value = -N * D * mpmath.log(2 * mpmath.pi) / 2 - N * log_sum_exp(alphas)
    for i in range(N):
        point = mpmath.matrix(p["x"][D * i : D * i + D])
        terms = []
        for k, (q, log_determinant) in enumerate(factors):
            distance = q * (point - mpmath.matrix(p["means"][D * k : D * k + D]))
            terms.append(alphas[k] + log_determinant - mpmath.norm(distance) ** 2 / 2)
        value += log_sum_exp(terms)
    freedom = m + D + 1
    log_gamma = D * (D - 1) * mpmath.log(mpmath.pi) / 4
    log_gamma += sum(mpmath.loggamma(mpmath.mpf(freedom - j) / 2) for j in range(D))
    for q, log_determinant in factors:
        value += gamma**2 / 2 * mpmath.fsum(e**2 for e in q) - m * log_determinant
        value -= freedom * D * (mpmath.log(gamma) - mpmath.log(2) / 2) - log_gamma
    return value


def derivative(name, place):
    def moved(t):
        values = list(parameters[name])
        values[place] = t
        return objective({**parameters, name: values})

    return mpmath.diff(moved, parameters[name][place])


# Assignments: in each term, in each logarithm of a sum, in the Gaussians, and in the prior.
erased = 64 * (N * K * (2 * D + 3) + (N + 1) * (2 * K + 2) + K * (D + 1) + K + 8)
print(f"objective={mpmath.nstr(objective(parameters), 18)} erases={erased}")
for name, values in parameters.items():
    print(f"{name}'={','.join(mpmath.nstr(derivative(name, i), 15) for i in range(len(values)))}")
light = {**parameters, "alphas": [mpmath.mpf(v) for v in (-50, -0.4, 0.3)]}
print(f"alphas=-50,-0.4,0.3: objective={mpmath.nstr(objective(light), 18)}")
