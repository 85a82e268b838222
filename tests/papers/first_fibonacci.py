"""Checks programs/first_fibonacci.rasm: the first index n with F(n) >= z, by a list of Fibonacci numbers.

F(0) is 1, as in the paper. `wrapped` counts with sums modulo 256, as signed words of 8 bits.
"""

numbers = [1, 1, 1]
while len(numbers) < 60:
    numbers.append(numbers[-1] + numbers[-2])
wrapped = [(f + 128) % 256 - 128 for f in numbers]

for z in (100, 144, 145, 2, 1, -7, 6):
    n = next(i for i, f in enumerate(numbers) if f >= z)
    print(f"z={z} n={n} number={numbers[n]}")
n = next(i for i, f in enumerate(wrapped) if f >= 100)
print(f"8 bits: z=100 n={n} number={wrapped[n]}")
