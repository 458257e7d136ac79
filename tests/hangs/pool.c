/* A pool of native threads that wait for jobs, as a C++ library keeps them. */
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t job_came = PTHREAD_COND_INITIALIZER;

static void *wait_for_jobs(void *unused)
{
    pthread_mutex_lock(&mutex);
    for (;;)
        pthread_cond_wait(&job_came, &mutex);
    return unused;
}

/* Start so many threads; 0, or -1 where one cannot be started. */
int start(int count)
{
    pthread_t thread;
    while (count-- > 0)
        if (pthread_create(&thread, 0, wait_for_jobs, 0))
            return -1;
    return 0;
}
