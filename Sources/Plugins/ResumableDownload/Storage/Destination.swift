import ErrandDigests
import ErrandEssentials
import ErrandPlatform
import ErrandSupport
import ErrandTransfers

/// The place for a downloaded file: a file, or a directory in which the server names the file.
struct Destination: Sendable {
    let directory: String
    let name: String?

    /// Throws if a download can't or shouldn't write to the URL. Blocks while it looks at the file.
    init(_ url: URL) throws(TransferError) {
        guard url.isFileURL, url.path.utf8.first == UInt8(ascii: "/") else {
            throw TransferError(.invalidRequest, "the destination is not a file URL with an absolute path")
        }
        let path = url.path
        if SystemFile.attributes(at: path)?.isDirectory == true {
            (directory, name) = (path, nil)
            return
        }
        let last = url.lastPathComponent
        if url.hasDirectoryPath || last.isEmpty || last == "." || last == ".." {
            throw TransferError(.noDirectory, "the directory \(path) does not exist")
        }
        let parent = url.deletingLastPathComponent().path
        guard SystemFile.attributes(at: parent)?.isDirectory == true else {
            throw TransferError(.noDirectory, "the directory \(parent) does not exist")
        }
        if last.utf8.count > 255 {
            throw TransferError(.invalidRequest, "the name of \(path) is too long: 255 bytes are allowed")
        }
        (directory, name) = (parent, last)
        _ = try Self.replaceable(path)
    }

    /// Returns a key that names the partial file. The key doesn't depend on the directory's path, because an app update
    /// may change this path. In a directory, each request has its own partial file.
    func key(request: String) -> String {
        let text = name.map { "file\n\($0)" } ?? "directory\n\(request)"
        return String(Hexadecimal.text(SHA256Digest.digest(of: Array(text.utf8))).prefix(24))
    }

    func path(of name: String) -> String { directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)" }

    /// Returns the permissions of the file that the download replaces, or nil if the file doesn't exist. Throws if it
    /// isn't a regular file.
    static func replaceable(_ path: String) throws(TransferError) -> mode_t? {
        let status: FileStatus
        do { status = try FileStatus(at: path, followingLinks: false) } catch {
            if error.code == ENOENT { return nil }
            throw TransferError(error)
        }
        let kind =
            switch status.kind {
            case .regular: ""
            case .directory: "a directory"
            case .link: "a symbolic link"
            case .other: "a device"
            }
        if kind.isEmpty { return status.permissions }
        throw TransferError(.notAFile, "\(path) cannot be replaced: it is \(kind)")
    }

    func checkSpace(for count: Int64) throws(TransferError) {
        guard count > 0, let available = SystemQueries.freeSpace(in: directory) else { return }
        if UInt64(count) > available {
            throw TransferError(
                .noSpace,
                "not enough space in \(directory): \(count) bytes needed, \(available) free")
        }
    }
}

extension Destination: CustomStringConvertible {
    var description: String { name.map(path(of:)) ?? directory }
}

extension TransferError {
    init(_ failure: SystemFile.Failure) { self.init(systemError: failure.code, failure.description) }

    static func converting<Value: ~Copyable>(
        _ body: () throws(SystemFile.Failure) -> Value
    ) throws(TransferError) -> Value {
        do { return try body() } catch { throw TransferError(error) }
    }
}
