import Glibc
import ImageProcessing

/// Sets the resource limits of this process, except for the CPU time, which `allowCPU` sets for each image.
func limitResources() {
    set(RLIMIT_DATA, ImageLimits.memoryBytesMax)
    set(RLIMIT_CORE, 0)
    set(RLIMIT_FSIZE, 0)
    set(RLIMIT_NOFILE, 64)
}

/// Allows this process to use the given CPU time from now on. The kernel terminates it afterwards.
func allowCPU(seconds: Int) {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    let used = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &limit)
    limit.rlim_cur = rlim_t(used + seconds + 1)
    setrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &limit)
}

private func set(_ resource: __rlimit_resource, _ value: Int) {
    var limit = rlimit(rlim_cur: rlim_t(value), rlim_max: rlim_t(value))
    setrlimit(__rlimit_resource_t(resource.rawValue), &limit)
}
