import ErrandSupport

/// Detached system threads, and the resource usage of the current thread.
///
/// Structures passed to system calls in this file are local variables that outlive the calls.
package enum SystemThread {
    /// Returns `false` if the system can't create the thread. `stack` is in bytes.
    package static func start(stack: Int, _ body: @escaping @Sendable () -> Void) -> Bool {
        unsafe withUnsafeTemporaryAllocation(of: pthread_attr_t.self, capacity: 1) { memory in
            guard let attributes = memory.baseAddress, unsafe pthread_attr_init(attributes) == 0 else { return false }
            defer { unsafe pthread_attr_destroy(attributes) }
            unsafe pthread_attr_setstacksize(attributes, stack)
            unsafe pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
            // The thread releases this reference. If the thread can't be created, this function releases the reference.
            let start = unsafe Unmanaged.passRetained(Body(body))
            if unsafe create(attributes, start.toOpaque()) { return true }
            unsafe start.release()
            return false
        }
    }

    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    private static func run(_ start: UnsafeMutableRawPointer) {
        unsafe Unmanaged<Body>.fromOpaque(start).takeRetainedValue().run()
    }

    private static func create(_ attributes: UnsafePointer<pthread_attr_t>, _ start: UnsafeMutableRawPointer) -> Bool {
        #if canImport(Glibc) || canImport(Android)
        var thread = pthread_t()
        #else
        var thread: pthread_t?
        #endif
        #if canImport(Darwin)
        return unsafe pthread_create(
            &thread, attributes,
            { start in
                unsafe SystemThread.run(start)
                return nil
            }, start) == 0
        #else
        return unsafe pthread_create(
            &thread, attributes,
            { start in
                // The argument and the result aren't optional in some Android headers.
                let argument: UnsafeMutableRawPointer? = unsafe start
                if let argument = unsafe argument { unsafe SystemThread.run(argument) }
                return unsafe start
            }, start) == 0
        #endif
    }

    /// An identifier of the current thread. It's an integer in some C libraries and a pointer in Musl.
    package static var current: UInt {
        #if canImport(Darwin)
        unsafe UInt(bitPattern: pthread_self())
        #else
        unsafe withUnsafeBytes(of: pthread_self()) { unsafe $0.load(as: UInt.self) }
        #endif
    }

    package static var processorTime: Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }

    /// The number of voluntary waits of the current thread. `nil` if the system doesn't count them per thread.
    package static var waits: Int? {
        #if canImport(Darwin)
        nil
        #else
        var usage = rusage()
        // 1 is RUSAGE_THREAD, whose type differs between C libraries.
        return unsafe getrusage(1, &usage) == 0 ? Int(usage.ru_nvcsw) : nil
        #endif
    }
}

/// A pipe that wakes a thread.
package struct Bell: Sendable, Equatable {
    /// The descriptor to wait for. It becomes readable after a call of `ring`.
    package let waits: Int32
    private let rings: Int32

    package init?() {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (waits, rings) = (ends[0], ends[1])
    }

    /// Call it once, after the last call to `ring` and `wait`.
    package func close() {
        closeDescriptor(waits)
        closeDescriptor(rings)
    }

    /// Wakes the thread that waits, or that waits next.
    package func ring() {
        var byte: UInt8 = 1
        _ = unsafe write(rings, &byte, 1)
    }

    package func wait() {
        var byte: UInt8 = 0
        while unsafe read(waits, &byte, 1) < 0 && errno == EINTR {}
    }
}

// Outside the structure, because its method `close` hides the system's function.
private func closeDescriptor(_ descriptor: Int32) { _ = close(descriptor) }
