#if os(Linux) || os(Android)
import CErrandCurl
import ErrandEssentials
import ErrandSupport

// The calls of the system that the loop makes with pointers, behind functions without: each buffer belongs to the caller
// or is a local variable, and outlives the one call that gets its address with its length.

extension Nanoseconds {
    static var now: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * perSecond + UInt64(time.tv_nsec)
    }
}

enum SystemCalls {
    /// Waits for events; below 0 milliseconds it is for ever. Returns how many were written to the array, which stays as
    /// long as it is.
    static func wait(on poll: Int32, into events: inout [errand_poll_event], milliseconds: Int32) -> Int {
        unsafe events.withUnsafeMutableBufferPointer { events in
            Int(unsafe errand_poll_wait(poll, events.baseAddress, Int32(events.count), milliseconds))
        }
    }

    /// Reads up to 4 KiB of a socket and drops them, without waiting. Returns the number of bytes, or an error's number
    /// below 0.
    static func discard(_ socket: Int32) -> Int {
        unsafe withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { bytes in
            let count = unsafe recv(socket, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT))
            return count < 0 ? -Int(errno) : count
        }
    }

    /// Whether a socket has a byte, without taking it: the number of bytes, or an error's number below 0.
    static func peek(_ socket: Int32) -> Int {
        var byte: UInt8 = 0
        let count = unsafe recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return count < 0 ? -Int(errno) : count
    }

    /// The number of bytes that were read of a TCP socket; nil where the system does not say.
    static func taken(of socket: Int32) -> UInt64? {
        var count: UInt64 = 0
        return unsafe errand_socket_taken(socket, &count) == 0 ? count : nil
    }

    /// Sends without waiting. 0, and how many bytes; an error's number otherwise.
    static func send(_ bytes: Data, from offset: Int, on socket: Int32, _ count: inout Int) -> Int32 {
        unsafe bytes.withUnsafeBytes { bytes in
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[offset...])
            return unsafe errand_socket_send(socket, rest.baseAddress, rest.count, &count)
        }
    }

    /// Receives without waiting. 0, and how many bytes; an error's number otherwise.
    static func receive(into buffer: inout [UInt8], from socket: Int32, _ count: inout Int) -> Int32 {
        unsafe buffer.withUnsafeMutableBytes { buffer in
            unsafe errand_socket_receive(socket, buffer.baseAddress, buffer.count, &count)
        }
    }

    /// Whether this process may read a file.
    static func isReadable(_ path: String) -> Bool { unsafe access(path, R_OK) == 0 }

    /// Names the current thread, and blocks its signals.
    static func prepareThread(_ name: String) { unsafe errand_thread_prepare(name) }

    /// Runs a body on a thread of its own. Returns 0, or an error's number.
    static func startThread(_ body: @escaping @Sendable () -> Void) -> Int32 {
        // The thread gets this reference, and releases it; without a thread, this function does.
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
