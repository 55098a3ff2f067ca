import ErrandEssentials
import ErrandSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#else
import Darwin
#endif

/// Reads files named on the command line, whole and up to a limit. Every call blocks.
enum InputFile {
    /// Errors include the name. "/dev/stdin" means standard input, even on systems without /dev.
    static func read(_ path: String, limit: Int, for name: String) throws(DownloadArguments.Mistake) -> Data {
        do {
            if path == "/dev/stdin" { return try collect(limit, name) { try SystemFile.read($0, from: 0, path) } }
            let file = try SystemFile(reading: path)
            return try collect(limit, name) { try file.read($0) }
        } catch let failure as SystemFile.Failure {
            throw DownloadArguments.Mistake(message: "\(name) cannot be read: \(failure.reason)")
        } catch let mistake as DownloadArguments.Mistake {
            throw mistake
        } catch {
            throw DownloadArguments.Mistake(message: "\(name) cannot be read")
        }
    }

    private static func collect(_ limit: Int, _ name: String, _ read: (Int) throws -> Data) throws -> Data {
        var data = Data()
        while true {
            let piece = try read(64 << 10)
            if piece.isEmpty { return data }
            data += piece
            if data.count > limit {
                throw DownloadArguments.Mistake(message: "\(name) is larger than \(Readable.size(Int64(limit)))")
            }
        }
    }

    /// Whether users other than the owner may read it.
    static func isShared(_ path: String) -> Bool { ((try? FileStatus(at: path))?.permissions ?? 0) & 0o077 != 0 }

    /// The size in bytes, or 0 if there is no file.
    static func size(_ path: String) -> Int64 { (try? FileStatus(at: path))?.size ?? 0 }

    /// Whether anything exists at the path, including a link with a missing target.
    static func exists(_ path: String) -> Bool { (try? FileStatus(at: path, followingLinks: false)) != nil }

    static func isDirectory(_ path: String) -> Bool { (try? FileStatus(at: path))?.kind == .directory }

    /// The home directory from the environment, then from the user's account, or nil if neither has one.
    static var home: String? {
        if let home = getenv("HOME").map({ String(cString: $0) }), home.hasPrefix("/") { return home }
        guard let account = getpwuid(getuid()), let home = account.pointee.pw_dir else { return nil }
        return String(cString: home)
    }
}
