extern int deep(int);
constant int table[4] = {1, 20, 300, 4000};
global int variable = 5;

int helper(int x, global int *value) { return deep(x) * 3 + *value; }

int nobody_calls(int x) { return x * 77; }
