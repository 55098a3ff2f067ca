#if !canImport(FoundationNetworking)
import Errand
import Foundation
import Synchronization

/// Writes a body's chunks into the stream that URLSession reads, at the speed at which it reads.
final class StreamPump: @unchecked Sendable {
    // Sendable: `input` is handed over before the task starts, `output` is used on `queue` only, the rest is constant or
    // behind a Mutex.

    private let body: HTTPBody
    private let length: Int64?
    private let input: InputStream?
    private let output: OutputStream?
    private let queue = DispatchQueue(label: "errand.urlsession.upload")
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(_ body: HTTPBody, length: Int64?) {
        (self.body, self.length) = (body, length)
        var input: InputStream?
        var output: OutputStream?
        Stream.getBoundStreams(withBufferSize: 64 << 10, inputStream: &input, outputStream: &output)
        (self.input, self.output) = (input, output)
    }

    /// A stream of known length is sent with `Content-Length`, any other chunked.
    func attach(to request: inout URLRequest, length: Int64?) {
        request.httpBodyStream = input
        if let length { request.setValue("\(length)", forHTTPHeaderField: "Content-Length") }
    }

    func begin(_ transfer: Transfer) {
        let pump = Task { await run(transfer) }
        task.withLock { $0 = pump }
    }

    func end() {
        task.withLock { $0 }?.cancel()
        body.cancel()
        queue.async { [self] in output?.close() }
    }

    @concurrent private func run(_ transfer: Transfer) async {
        await onQueue { $0.open() }
        do {
            var count: Int64 = 0
            // The last chunk of an announced length is written after the end of the source, so that a source with more
            // bytes never completes a request.
            var last: Data?
            for try await chunk in body {
                count += Int64(chunk.count)
                if let length, count > length { throw Upload.wrongLength(length, count) }
                if count == length { last = chunk } else if await !write(chunk) { return }
            }
            if let length, count < length { throw Upload.wrongLength(length, count) }
            if let last { _ = await write(last) }
            await onQueue { $0.close() }
        } catch {
            transfer.fail(Upload.failure(error))
        }
    }

    /// Blocks a thread of this pump's queue until the session reads; false once the session has closed the stream.
    private func write(_ data: Data) async -> Bool {
        await onQueue { output in
            data.withUnsafeBytes { bytes in
                var rest = bytes
                while let start = rest.bindMemory(to: UInt8.self).baseAddress, !rest.isEmpty {
                    let count = output.write(start, maxLength: rest.count)
                    if count <= 0 { return false }
                    rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                }
                return true
            }
        } ?? false
    }

    @discardableResult
    private func onQueue<Value: Sendable>(_ work: @escaping @Sendable (OutputStream) -> Value) async -> Value? {
        await withCheckedContinuation { continuation in
            queue.async { [self] in continuation.resume(returning: output.map(work)) }
        }
    }
}
#endif
