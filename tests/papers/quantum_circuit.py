"""Checks programs/quantum_circuit.rasm: the energy of a circuit of four qubits and its derivatives.

Gates are matrices of 16 by 16 complex numbers. Prints the energy, the derivatives by the parameter-shift rule and
the least energy (the smallest eigenvalue). The derivatives are compared with ⟨λ|dU/dangle|ψ⟩, by hand.
"""

from functools import reduce

import numpy as np

QUBITS, FIELD = 4, 0.7
ANGLES = np.array([[0.3, -0.8, 1.1, 0.4], [0.9, 0.2, -0.5, 1.4], [-0.6, 0.7, 0.1, 1.2]])
ONE = np.eye(2)
X, Y, Z = np.array([[0, 1], [1, 0]]), np.array([[0, -1j], [1j, 0]]), np.diag([1, -1])
HADAMARD = (X + Z) / np.sqrt(2)


def on(**gates):
    """The product of gates on qubits, as in on(q0=X); qubit 0 is the lowest bit of an index."""
    return reduce(np.kron, [gates.get(f"q{q}", ONE) for q in reversed(range(QUBITS))])


def one(gate, q):
    return on(**{f"q{q}": gate})


def cnot(control, q):
    return one(np.diag([1, 0]), control) + on(**{f"q{control}": np.diag([0, 1]), f"q{q}": X})


def rotation(pauli, angle):
    return np.cos(angle / 2) * ONE - 1j * np.sin(angle / 2) * pauli


HAMILTONIAN = -sum(on(**{f"q{q}": Z, f"q{q + 1}": Z}) for q in range(QUBITS - 1)) - FIELD * sum(
    one(X, q) for q in range(QUBITS)
)


def gates(angles):
    """Pairs of a matrix and its derivative by its angle, with the angle's index (None without an angle)."""
    yield one(X, 0), None, None
    for q in range(QUBITS):
        yield one(HADAMARD, q), None, None
        for row, pauli in ((0, Z), (1, X)):
            yield one(rotation(pauli, angles[row, q]), q), one(-0.5j * pauli, q), (row, q)
    for q in range(QUBITS - 1):
        yield cnot(q, q + 1), None, None
    for q in range(QUBITS):
        yield one(rotation(Y, angles[2, q]), q), one(-0.5j * Y, q), (2, q)


def energy(angles):
    state = np.eye(2**QUBITS)[0]
    for matrix, _, _ in gates(angles):
        state = matrix @ state
    return (state.conj() @ HAMILTONIAN @ state).real


def shift(angles):
    slopes = np.zeros_like(angles)
    for index in np.ndindex(angles.shape):
        step = np.zeros_like(angles)
        step[index] = np.pi / 2
        slopes[index] = (energy(angles + step) - energy(angles - step)) / 2
    return slopes


def gradient(angles):
    """The derivative of a gate exp(-i·angle/2·P) is the gate times -i/2·P."""
    slopes = np.zeros_like(angles)
    state = np.eye(2**QUBITS)[0]
    for matrix, _, _ in gates(angles):
        state = matrix @ state
    other = HAMILTONIAN @ state
    for matrix, generator, index in reversed(list(gates(angles))):
        if index is not None:
            slopes[index] = 2 * (other.conj() @ generator @ state).real
        state, other = matrix.conj().T @ state, matrix.conj().T @ other
    return slopes


assert np.abs(shift(ANGLES) - gradient(ANGLES)).max() < 1e-14
for name, angles in (("default", ANGLES), ("angle=0", 0 * ANGLES), ("angle=0.5", 0 * ANGLES + 0.5)):
    print(f"{name} -> energy~{energy(angles):.15g} shift~{','.join(f'{s:.15g}' for s in np.ravel(shift(angles)))}")
print(f"least energy {np.linalg.eigvalsh(HAMILTONIAN)[0]:.6f}")
