"""The attention of programs/attention.rasm in NumPy: loss, and derivatives by hand."""
import numpy as np

Q = np.array([[1, 0], [0.5, -0.5], [-1, 2]])
K = np.array([[1, 1], [0, 1], [-1, 0.5], [0.25, -1]])
V = np.array([[1, 2], [3, -1], [0, 1], [0.5, 0.5]])
WANTED = np.ones((3, 2))


def main():
    scale = 1 / np.sqrt(2)
    weights = np.exp(Q @ K.T * scale)
    weights /= weights.sum(axis=1, keepdims=True)
    error = weights @ V - WANTED
    by_weights = error @ V.T
    by_similarity = weights * (by_weights - (weights * by_weights).sum(axis=1, keepdims=True)) * scale
    print("loss", repr(float((error**2).sum() / 2)))
    print("queries", (by_similarity @ K).tolist())
    print("keys", (by_similarity.T @ Q).tolist())
    print("values", (weights.T @ error).tolist())


if __name__ == "__main__":
    main()
