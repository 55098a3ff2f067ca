import ErrandSupport

import ErrandEssentials
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Where a file is to go: a name in a directory, or a directory that waits for a name.
struct Destination: Sendable {
    let directory: String
    /// Nil if the server is to name the file.
    let name: String?

    /// Looks at what is there. Throws for anything that a download could not, or should not, replace. Blocks.
    init(_ url: URL) throws(DownloadError) {
        guard url.isFileURL, url.path.utf8.first == UInt8(ascii: "/") else {
            throw DownloadError(.invalidRequest, "the destination is not the URL of a file")
        }
        let path = url.path
        var info = stat()
        if stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFDIR {
            (directory, name) = (path, nil)
            return
        }
        let last = url.lastPathComponent
        if url.hasDirectoryPath || last.isEmpty || last == "." || last == ".." {
            throw DownloadError(.noDirectory, "\(last) is not there")
        }
        let parent = url.deletingLastPathComponent().path
        guard stat(parent, &info) == 0, info.st_mode & S_IFMT == S_IFDIR else {
            throw DownloadError(.noDirectory, "the directory of \(last) is not there")
        }
        if last.utf8.count > 255 { throw DownloadError(.invalidRequest, "the name of the destination is too long") }
        (directory, name) = (parent, last)
        _ = try Self.replaceable(path)
    }

    /// What the names of the partial file and its sidecar are made of. Nothing of the directory's own path is in it, which
    /// an update of an app may change. A directory takes one partial file for each request.
    func key(request: String) -> String {
        let text = name.map { "file\n\($0)" } ?? "directory\n\(request)"
        return String(Hexadecimal.text(SHA256Digest.digest(of: Array(text.utf8))).prefix(24))
    }

    func path(of name: String) -> String { directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)" }

    /// The permissions of the regular file at a path, nil if nothing is there; throws if anything else is.
    static func replaceable(_ path: String) throws(DownloadError) -> mode_t? {
        var info = stat()
        if lstat(path, &info) != 0 {
            if errno == ENOENT { return nil }
            throw DownloadError(system: errno, "the destination cannot be looked at")
        }
        let name = path.split(separator: "/").last.map(String.init) ?? path
        switch info.st_mode & S_IFMT {
        case S_IFREG: return info.st_mode & 0o777
        case S_IFDIR: throw DownloadError(.notAFile, "\(name) is a directory")
        case S_IFLNK: throw DownloadError(.notAFile, "\(name) is a symbolic link")
        default: throw DownloadError(.notAFile, "\(name) is a device")
        }
    }

    /// Throws `noSpace` if so many bytes more cannot fit.
    func checkSpace(for count: Int64) throws(DownloadError) {
        var info = statvfs()
        guard statvfs(directory, &info) == 0 else { return }
        let available = UInt64(info.f_bavail).multipliedReportingOverflow(by: UInt64(info.f_frsize))
        if !available.overflow, count > 0, UInt64(count) > available.partialValue {
            throw DownloadError(.noSpace, "\(count) bytes are needed, \(available.partialValue) are free")
        }
    }
}

extension DownloadError {
    /// What the system said.
    init(system code: Int32, _ what: String) {
        let kind: Code =
            switch code {
            case ENOSPC, EDQUOT, EFBIG: .noSpace
            case EACCES, EPERM, EROFS: .noPermission
            case ENOENT, ENOTDIR: .noDirectory
            case EISDIR, ELOOP: .notAFile
            case EMFILE, ENFILE: .tooManyOpenFiles
            default: .file
            }
        self.init(kind, "\(what): \(String(cString: strerror(code)))")
    }
}
