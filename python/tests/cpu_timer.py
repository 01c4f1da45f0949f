"""An interrupt that comes when this process has used some CPU time: what else the machine does changes nothing."""

import ctypes
import signal
import time


class _Event(ctypes.Structure):
    """struct sigevent of Linux; a `notify` of 0 is a signal."""

    _fields_ = [("value", ctypes.c_void_p), ("signal", ctypes.c_int), ("notify", ctypes.c_int), ("rest", ctypes.c_byte * 48)]


class _Times(ctypes.Structure):
    """struct itimerspec."""

    _fields_ = [(name, ctypes.c_long) for name in ("again_s", "again_ns", "at_s", "at_ns")]


def interrupt_after(seconds):
    """Sends SIGINT that many CPU seconds, of all threads together, from now; returns when that is, as process_time()."""
    libc = ctypes.CDLL(None)
    timer = ctypes.c_void_p()
    event = _Event(signal=signal.SIGINT)
    if libc.timer_create(time.CLOCK_PROCESS_CPUTIME_ID, ctypes.byref(event), ctypes.byref(timer)) != 0:
        raise OSError("there is no timer of the CPU time")
    due = time.process_time() + seconds
    whole = int(due)
    times = _Times(at_s=whole, at_ns=int(1e9 * (due - whole)))
    if libc.timer_settime(timer, 1, ctypes.byref(times), None) != 0:  # 1: the time is absolute
        raise OSError("the timer of the CPU time cannot be set")
    return due
