// An array in private memory: the stack goes through all three objects.
int deep(int x) {
    volatile int a[8];
    for (int i = 0; i < 8; i++) a[i] = x * i;
    return a[x & 7] + 1;
}
