/* A library with one lock around its state, which makes itself fit for a forked child by pthread_atfork. */
#include <pthread.h>

static pthread_mutex_t state = PTHREAD_MUTEX_INITIALIZER;

static void renew(void)
{
    pthread_mutex_lock(&state);
    pthread_mutex_unlock(&state);
}

/* Have `renew` called in every forked child; 0 if that is so. */
int watch_forks(void)
{
    return pthread_atfork(0, 0, renew);
}

/* Take the lock around the state; returns its address. */
void *take(void)
{
    pthread_mutex_lock(&state);
    return &state;
}
