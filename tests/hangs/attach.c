/* Native threads that enter and leave Python in a loop, as a C++ library does that calls back into Python.
 *
 * Compiled without Python's headers: the two functions are looked up in the running interpreter, so that one library
 * serves every version. Each entry takes HEAD_LOCK for a moment without the GIL (PyThreadState_New).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>

#define MOST 16

static int (*enter_python)(void);
static void (*leave_python)(int);
static pthread_t threads[MOST];
static int running;
static volatile int wanted;

static void *call_back(void *unused)
{
    while (wanted)
        leave_python(enter_python());
    return unused;
}

/* Start so many threads; 0, or -1 where this interpreter has no such functions or no thread can be started. */
int start(int count)
{
    enter_python = (int (*)(void))dlsym(RTLD_DEFAULT, "PyGILState_Ensure");
    leave_python = (void (*)(int))dlsym(RTLD_DEFAULT, "PyGILState_Release");
    if (!enter_python || !leave_python || count > MOST)
        return -1;
    wanted = 1;
    for (running = 0; running < count; running++)
        if (pthread_create(&threads[running], NULL, call_back, NULL))
            return -1;
    return 0;
}

/* End the threads and wait for them. The caller must not hold the GIL. */
void stop(void)
{
    wanted = 0;
    while (running > 0)
        pthread_join(threads[--running], NULL);
}
