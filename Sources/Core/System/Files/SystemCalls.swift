// Wraps the C library's calls that take or return pointers, so the other files in this folder are safe Swift, except
// `SystemFile+Content.swift`. Each structure is a local variable that a call fills before the code reads it. Each text
// is copied before another call can change it.

package func systemErrorText(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }

package func environmentVariable(_ name: String) -> String? { unsafe getenv(name).map { unsafe String(cString: $0) } }

extension FileStatus {
    package init(at path: String, followingLinks: Bool = true) throws(SystemFile.Failure) {
        var info = stat()
        let code = followingLinks ? unsafe stat(path, &info) : unsafe lstat(path, &info)
        if code != 0 { throw SystemFile.Failure("cannot be read", path) }
        self.init(info)
    }

    init?(descriptor: Int32) {
        var info = stat()
        if unsafe fstat(descriptor, &info) != 0 { return nil }
        self.init(info)
    }
}

extension SystemFile {
    package static func rename(_ from: String, to path: String) throws(Failure) {
        if systemRename(from, path) != 0 { throw Failure("cannot be replaced", path) }
    }

    package static func link(_ from: String, to path: String) throws(Failure) {
        if systemLink(from, path) != 0 { throw Failure("cannot be created", path) }
    }

    @discardableResult
    package static func remove(_ path: String) -> Bool { unsafe unlink(path) == 0 }

    package static func makeDirectory(_ path: String, permissions: mode_t) throws(Failure) {
        if unsafe mkdir(path, permissions) != 0 { throw Failure("cannot be created", path) }
    }

    package static func list(_ path: String, _ body: (String) -> Bool) throws(Failure) {
        guard let directory = unsafe opendir(path) else { throw Failure("cannot be read", path) }
        defer { unsafe closedir(directory) }
        // The entry belongs to the directory stream and is valid until the next call.
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != "..", !body(name) { return }
        }
    }

    /// Sets a file's times, in nanoseconds since 1970. Ignores failures.
    package func setTimes(_ nanoseconds: Int64) {
        // Round down, because the kernel refuses negative nanoseconds.
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let time = timespec(
            tv_sec: Int(clamping: rest < 0 ? seconds - 1 : seconds),
            tv_nsec: Int(rest < 0 ? rest + 1_000_000_000 : rest))
        let times = [time, time]
        unsafe futimens(descriptor, times)
    }

    #if os(Linux) || os(Android)
    /// The function fallocate(2), which Swift's C library module lacks. `nil` on 32-bit systems, because file offsets
    /// don't have 64 bits there.
    static let fallocate: (@convention(c) (Int32, Int32, Int64, Int64) -> Int32)? =
        MemoryLayout<Int>.size < 8
        ? nil : systemFunction("fallocate", as: (@convention(c) (Int32, Int32, Int64, Int64) -> Int32).self)

    /// The function sync_file_range(2), which Swift's C library module lacks.
    static let syncFileRange: (@convention(c) (Int32, Int64, Int64, UInt32) -> Int32)? = systemFunction(
        "sync_file_range", as: (@convention(c) (Int32, Int64, Int64, UInt32) -> Int32).self)
    #endif
}

#if os(Linux) || os(Android)
/// Looks up a function of the C library. POSIX guarantees that dlsym(3) returns a function's address as an object
/// pointer, so the code copies the address into a variable of the function's type.
package func systemFunction<Function>(_ name: String, as type: Function.Type) -> Function? {
    guard let address = unsafe dlsym(nil, name) else { return nil }
    return unsafe withUnsafeBytes(of: address) { unsafe $0.load(as: type) }
}
#endif

func systemOpen(_ path: String, _ flags: Int32, _ permissions: mode_t) -> Int32 {
    uninterrupted { unsafe open(path, flags, permissions) }
}

private func systemRename(_ from: String, _ to: String) -> Int32 { unsafe rename(from, to) }
private func systemLink(_ from: String, _ to: String) -> Int32 { unsafe link(from, to) }
