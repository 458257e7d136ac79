/* A sum by several OpenMP threads, as torch or numpy would do it. */

double total(int threads, long count)
{
    double sum = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
    for (long index = 0; index < count; index++)
        sum += 1.0 / (1.0 + (double)index);
    return sum;
}
