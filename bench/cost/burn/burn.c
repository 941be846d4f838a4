// A "compiler" whose work is known: its source is a number, for each of which it
// multiplies a thousand times, and PERMILLE thousandths more.
#include <stdio.h>

#ifndef PERMILLE
#define PERMILLE 0
#endif

int main(int argc, char **argv) {
	long thousands = 0;
	FILE *source = argc > 1 ? fopen(argv[1], "r") : NULL;
	if (source == NULL || fscanf(source, "%ld", &thousands) != 1)
		return 1;
	unsigned long x = 1;
	for (long i = 0; i < thousands * (1000 + PERMILLE); i++)
		x = x * 6364136223846793005UL + 1442695040888963407UL;
	printf("%s\n", x != 0 ? "done" : "odd"); // so that the loop is not left out
	return 0;
}
