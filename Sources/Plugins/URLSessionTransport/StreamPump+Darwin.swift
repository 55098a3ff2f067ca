#if !canImport(FoundationNetworking)
import Errand
import Foundation
import Synchronization

/// Writes a body's chunks to the stream that URLSession reads, at the session's pace.
final class StreamPump: NSObject, StreamDelegate, @unchecked Sendable {
    // Sendable: `input` is handed over before the task starts, `output` is used only on `queue`, and the rest is
    // constant or in a Mutex.

    let input: InputStream?
    private let output: OutputStream?
    private let body: HTTPBody
    private let length: Int64?
    private let queue: DispatchQueue
    private let writer: ChunkWriter
    private let run = Mutex(Run())

    private struct Run: Sendable {
        var task: Task<Void, Never>?
        var hasEnded = false
    }

    private final class Outlet: @unchecked Sendable {
        // Sendable: the pump uses it only on its queue.
        let stream: OutputStream?
        init(_ stream: OutputStream?) { self.stream = stream }

        func offer(_ data: Data) -> ChunkWriter.Acceptance {
            guard let stream else { return .isClosed }
            if !stream.hasSpaceAvailable {
                return [.closed, .error, .atEnd].contains(stream.streamStatus) ? .isClosed : .isFull
            }
            // The stream copies the bytes before `write` returns.
            let count = unsafe data.withUnsafeBytes { bytes in
                unsafe bytes.bindMemory(to: UInt8.self).baseAddress.map {
                    unsafe stream.write($0, maxLength: bytes.count)
                } ?? 0
            }
            return count > 0 ? .took(count) : .isClosed
        }
    }

    init(_ body: HTTPBody, length: Int64?) {
        (self.body, self.length) = (body, length)
        var input: InputStream?
        var output: OutputStream?
        unsafe Stream.getBoundStreams(withBufferSize: 64 << 10, inputStream: &input, outputStream: &output)
        (self.input, self.output) = (input, output)
        queue = DispatchQueue(label: "errand.urlsession.upload")
        let outlet = Outlet(output)
        writer = ChunkWriter(on: queue) { outlet.offer($0) }
        super.init()
    }

    /// Sets the stream as the request's body. Without a length, the session sends the body in chunks.
    func attach(to request: inout URLRequest, length: Int64?) {
        request.httpBodyStream = input
        if let length { request.setValue("\(length)", forHTTPHeaderField: "Content-Length") }
    }

    func begin(_ transfer: SessionTransfer) {
        queue.async { [self] in
            guard let output else { return writer.close() }
            output.delegate = self
            CFWriteStreamSetDispatchQueue(output, queue)
            output.open()
        }
        let task = Task { await pump(transfer) }
        let hasEnded = run.withLock { run in
            run.task = task
            return run.hasEnded
        }
        if hasEnded { task.cancel() }
    }

    /// Ends the pump. Later failures of the source don't affect the transfer.
    func end() {
        let task = run.withLock { run in
            run.hasEnded = true
            return run.task
        }
        task?.cancel()
        body.cancel()
        writer.close()
        close()
    }

    func stream(_ stream: Stream, handle event: Stream.Event) {
        switch event {
        case .openCompleted, .hasSpaceAvailable: writer.roomIsThere()
        case .endEncountered, .errorOccurred: writer.close()
        default: break
        }
    }

    @concurrent private func pump(_ transfer: SessionTransfer) async {
        do {
            var count: Int64 = 0
            // Hold the last chunk back until the source ends, so a source with more bytes than announced never
            // completes a request.
            var last: Data?
            for try await chunk in body {
                count += Int64(chunk.count)
                if let length, count > length { throw SessionUpload.wrongLength(length, count) }
                if count == length { last = chunk } else if await !writer.write(chunk) { return }
            }
            if let length, count < length { throw SessionUpload.wrongLength(length, count) }
            if let last { _ = await writer.write(last) }
            close()
        } catch {
            if !run.withLock(\.hasEnded) { transfer.fail(SessionUpload.failure(error)) }
        }
    }

    private func close() {
        queue.async { [self] in
            output?.close()
            output?.delegate = nil
            if let output { CFWriteStreamSetDispatchQueue(output, nil) }
        }
    }
}
#endif
