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

/// Writes a body into a file that appears, or replaces the old one, only when it is whole.
struct BodyFile {
    private let url: URL

    init(_ url: URL) { self.url = url }

    /// The body as that file. Throws ``ErrandError/Code/file`` when it cannot be written; nothing is left behind then.
    @concurrent func write(_ body: HTTPBody) async throws -> HTTPBody {
        let temporary = url.path + ".\(getpid()).\(UInt64.random(in: 0 ... .max)).partial"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw failure("cannot be created") }
        var count: Int64 = 0
        do {
            defer { close(descriptor) }
            for try await chunk in body {
                try chunk.withUnsafeBytes { try write($0, to: descriptor) }
                count += Int64(chunk.count)
            }
            guard fsync(descriptor) == 0 else { throw failure("cannot be written") }
        } catch {
            unlink(temporary)
            throw error
        }
        guard rename(temporary, url.path) == 0 else {
            let error = failure("cannot be replaced")
            unlink(temporary)
            throw error
        }
        return HTTPBody(file: url, length: count)
    }

    private func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: rest))
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { throw failure("cannot be written") }
            rest = rest.dropFirst(written)
        }
    }

    private func failure(_ what: String) -> ErrandError {
        ErrandError(.file, "\(url.lastPathComponent) \(what): \(String(cString: strerror(errno)))")
    }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
