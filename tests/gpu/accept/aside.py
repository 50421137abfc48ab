"""Several commands of a check side by side: an import of torch takes its time, and the processors are there."""
import concurrent.futures


def together(**jobs):
    """{name: what jobs[name]() returned}."""
    with concurrent.futures.ThreadPoolExecutor(len(jobs)) as pool:
        return dict(zip(jobs, pool.map(lambda job: job(), jobs.values())))
