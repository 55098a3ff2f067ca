import ErrandSupport
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension PartialFile {
    static let prefix = "errand-"
    static let dataEnding = ".part"
    static let sidecarEnding = ".part-info"

    static func data(_ id: String, in directory: String) -> String { "\(directory)/\(prefix)\(id)\(dataEnding)" }
    static func sidecar(_ id: String, in directory: String) -> String { "\(directory)/\(prefix)\(id)\(sidecarEnding)" }

    /// Whether a name could be taken for one of these, so that no file from a server gets it.
    static func isOurs(_ name: String) -> Bool {
        let name = name.lowercased()
        return name.hasPrefix(prefix) && (name.hasSuffix(dataEnding) || name.hasSuffix(sidecarEnding))
    }

    /// The data, open. One that was put in place already, by a download that died before it could say so, is let alone.
    static func opened(_ path: String, _ info: inout stat) throws(DownloadError) -> Int32 {
        for _ in 0..<100 {
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o666)
            if descriptor < 0 { throw DownloadError(system: errno, "the partial file cannot be opened") }
            if fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFREG, info.st_nlink == 1 { return descriptor }
            let isFile = info.st_mode & S_IFMT == S_IFREG
            close(descriptor)
            if !isFile || unlink(path) != 0 && errno != ENOENT { break }
        }
        throw DownloadError(.notAFile, "the partial file is not a file of its own")
    }

    /// The sidecar, open and locked. A file that went away while its lock was waited for is not the one that is there.
    static func locked(_ path: String) throws(DownloadError) -> Int32 {
        var looks = 0
        for _ in 0..<100 {
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            if descriptor < 0 { throw DownloadError(system: errno, "the sidecar cannot be opened") }
            if flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
                close(descriptor)
                // Whoever lists what is left over holds it for a moment.
                looks += 1
                if looks > 5 { break }
                usleep(1000)
                continue
            }
            var (mine, there) = (stat(), stat())
            if fstat(descriptor, &mine) == 0, lstat(path, &there) == 0, mine.st_ino == there.st_ino,
                mine.st_dev == there.st_dev, mine.st_mode & S_IFMT == S_IFREG
            {
                return descriptor
            }
            close(descriptor)
        }
        throw DownloadError(.busy, "another download writes to the same destination")
    }
}

/// The name of the running system, which changes when it starts: what a process wrote is there for the next process, even
/// if it was killed, as long as the system runs.
enum SystemSession {
    private static let known = Mutex("")

    /// Empty where it is not known, and then nothing counts that was not flushed. Only success is kept: a process with too
    /// many open files may read it later.
    static var identifier: String {
        known.withLock { known in
            if known.isEmpty { known = read() }
            return known
        }
    }

    private static func read() -> String {
        #if os(Linux)
        guard let file = try? SystemFile(reading: "/proc/sys/kernel/random/boot_id"), let data = try? file.read(64)
        else {
            return ""
        }
        return String(decoding: data, as: UTF8.self).filter { $0.isHexDigit || $0 == "-" }
        #else
        SystemSession.darwin
        #endif
    }
}
