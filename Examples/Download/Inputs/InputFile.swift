import ErrandEssentials
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Files that the command line names: read whole, up to a limit. Everything blocks.
enum InputFile {
    /// Throws a sentence with the name. "/dev/stdin" is standard input, also where there is no /dev.
    static func read(_ path: String, limit: Int, for name: String) throws(DownloadArguments.Mistake) -> Data {
        let isInput = path == "/dev/stdin"
        let file = isInput ? 0 : open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw failure(name) }
        defer { if !isInput { close(file) } }
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = systemRead(file, &buffer)
            if count < 0 {
                if errno == EINTR { continue }
                throw failure(name)
            }
            if count == 0 { return data }
            data.append(contentsOf: buffer[..<count])
            if data.count > limit { throw .init(message: "\(name) is larger than \(Readable.size(Int64(limit)))") }
        }
    }

    /// Whether others than the owner may read it.
    static func isShared(_ path: String) -> Bool {
        var info = stat()
        return stat(path, &info) == 0 && info.st_mode & 0o077 != 0
    }

    /// 0 where there is none.
    static func size(_ path: String) -> Int64 {
        var info = stat()
        return stat(path, &info) == 0 ? Int64(info.st_size) : 0
    }

    static func exists(_ path: String) -> Bool {
        var info = stat()
        return lstat(path, &info) == 0
    }

    static func isDirectory(_ path: String) -> Bool {
        var info = stat()
        return stat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR
    }

    /// The home directory of the environment, then that of the user's account; nil if neither says.
    static var home: String? {
        if let home = getenv("HOME").map({ String(cString: $0) }), home.hasPrefix("/") { return home }
        guard let account = getpwuid(getuid()), let home = account.pointee.pw_dir else { return nil }
        return String(cString: home)
    }

    private static func failure(_ name: String) -> DownloadArguments.Mistake {
        .init(message: "\(name) cannot be read: \(String(cString: strerror(errno)))")
    }

    private static func systemRead(_ file: Int32, _ buffer: inout [UInt8]) -> Int {
        buffer.withUnsafeMutableBytes { bytes in
            #if canImport(Glibc)
            Glibc.read(file, bytes.baseAddress, bytes.count)
            #elseif canImport(Musl)
            Musl.read(file, bytes.baseAddress, bytes.count)
            #else
            Darwin.read(file, bytes.baseAddress, bytes.count)
            #endif
        }
    }
}
