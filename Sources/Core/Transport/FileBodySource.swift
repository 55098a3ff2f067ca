#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import Synchronization

final class FileBodySource: HTTPBodySource {
    private let url: URL
    private let opened = Mutex<Int32?>(nil)

    init(_ url: URL) { self.url = url }

    deinit { opened.withLock { $0.map { _ = close($0) } } }

    @concurrent func nextChunk() async throws -> Data? {
        try Task.checkCancellation()
        let size = 256 << 10
        let descriptor = try opened.withLock { opened in
            if let descriptor = opened { return descriptor }
            let descriptor = open(url.path, O_RDONLY | O_CLOEXEC)
            if descriptor < 0 { throw Self.error(url) }
            opened = descriptor
            return descriptor
        }
        var data = Data(count: size)
        let count = data.withUnsafeMutableBytes { systemRead(descriptor, $0.baseAddress, size) }
        guard count >= 0 else { throw ErrandError(.file, "reading the body failed: \(String(cString: strerror(errno)))") }
        return count == 0 ? nil : data.prefix(count)
    }

    func cancel() {}

    static func length(of url: URL) throws -> Int64 {
        var info = stat()
        guard url.isFileURL, stat(url.path, &info) == 0 else { throw error(url) }
        guard info.st_mode & S_IFMT == S_IFREG else {
            throw ErrandError(.file, "\(url.lastPathComponent) is not a regular file")
        }
        return Int64(info.st_size)
    }

    private static func error(_ url: URL) -> ErrandError {
        let reason = url.isFileURL ? String(cString: strerror(errno)) : "the URL is no file's"
        return ErrandError(.file, "\(url.lastPathComponent) cannot be read: \(reason)")
    }
}

private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ size: Int) -> Int {
    var count = read(descriptor, buffer, size)
    while count < 0 && errno == EINTR { count = read(descriptor, buffer, size) }
    return count
}
