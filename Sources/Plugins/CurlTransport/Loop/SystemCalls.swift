#if os(Linux) || os(Android)
import CErrandCurl
import ErrandEssentials
import ErrandSupport

// System calls, wrapped in functions without pointers. Each buffer belongs to the caller or is a local variable, and
// outlives the call that receives its address and length.

extension Nanoseconds {
    static var now: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * perSecond + UInt64(time.tv_nsec)
    }
}

enum SystemCalls {
    /// Waits for events. With a negative number of milliseconds, waits without a limit.
    static func wait(on poll: Int32, into events: inout [errand_poll_event], milliseconds: Int32) -> Int {
        unsafe events.withUnsafeMutableBufferPointer { events in
            Int(unsafe errand_poll_wait(poll, events.baseAddress, Int32(events.count), milliseconds))
        }
    }

    /// Drops up to 4 KiB without waiting. Returns the byte count or a negated error number.
    static func discard(_ socket: Int32) -> Int {
        unsafe withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { bytes in
            let count = unsafe recv(socket, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT))
            return count < 0 ? -Int(errno) : count
        }
    }

    /// Looks for a byte without reading it. Returns 1, 0 at the end, or a negated error number.
    static func peek(_ socket: Int32) -> Int {
        var byte: UInt8 = 0
        let count = unsafe recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return count < 0 ? -Int(errno) : count
    }

    /// Returns the number of bytes read from a TCP socket, or `nil` if the system doesn't report it.
    static func taken(of socket: Int32) -> UInt64? {
        var count: UInt64 = 0
        return unsafe errand_socket_taken(socket, &count) == 0 ? count : nil
    }

    /// Sends bytes. Returns 0 and sets `count`, or returns an error number.
    static func send(_ bytes: Data, from offset: Int, on socket: Int32, _ count: inout Int) -> Int32 {
        unsafe bytes.withUnsafeBytes { bytes in
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[offset...])
            return unsafe errand_socket_send(socket, rest.baseAddress, rest.count, &count)
        }
    }

    static func receive(into buffer: inout [UInt8], from socket: Int32, _ count: inout Int) -> Int32 {
        unsafe buffer.withUnsafeMutableBytes { buffer in
            unsafe errand_socket_receive(socket, buffer.baseAddress, buffer.count, &count)
        }
    }

    static func isReadable(_ path: String) -> Bool { unsafe access(path, R_OK) == 0 }

    static func prepareThread(_ name: String) { unsafe errand_thread_prepare(name) }

    /// Runs a closure on a new thread. Returns 0 or an error number.
    static func startThread(_ body: @escaping @Sendable () -> Void) -> Int32 {
        // The thread releases this reference. Without a thread, this function does.
        let work = unsafe Unmanaged.passRetained(ThreadBody(body))
        let code = unsafe errand_thread_start(
            { work in
                if let work = unsafe work { unsafe Unmanaged<ThreadBody>.fromOpaque(work).takeRetainedValue().run() }
            }, work.toOpaque())
        if code != 0 { unsafe work.release() }
        return code
    }
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}
#endif
