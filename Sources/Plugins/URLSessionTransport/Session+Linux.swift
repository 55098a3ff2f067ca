#if canImport(FoundationNetworking)
import Errand
import Foundation
import FoundationNetworking

/// Runs what the session tells at once, on the session's own queue: a hop less for each call.
private final class InlineQueue: OperationQueue, @unchecked Sendable {
    // Sendable: it has no state of its own.
    override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
}

func makeDelegateQueue() -> OperationQueue? { InlineQueue() }

extension Transfer {
    /// Neither priority nor anything else of a task has an effect here.
    func prepare(_ task: URLSessionTask) {}

    /// A suspended task starts over from its first byte on Linux: a slow reader costs memory.
    func holdBack() {}
    func letGo() {}
}

extension SessionDelegate {
    /// The only challenge on Linux is a 401, whose head and body have come: they are the answer. Unanswered, the task
    /// would never end; the cancellation goes through our queue because it blocks on the one that this runs on.
    func answer(
        _ challenge: URLAuthenticationChallenge, of task: URLSessionTask,
        _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let transfer = remove(task)
        transfer?.complete(task, nil)
        (transfer?.queue ?? DispatchQueue.global()).async {
            completionHandler(.cancelAuthenticationChallenge, nil)
        }
    }
}

/// Nobody makes one on Linux: the session reads streams on the queue that all sessions share, where nothing may wait.
enum StreamPump: Sendable {
    func attach(to request: inout URLRequest, length: Int64?) {}
    func begin(_ transfer: Transfer) {}
    func end() {}
}

extension Upload {
    /// What stays in memory until it is sent; more goes through a file that only its owner can read.
    private static let inMemory = 1 << 20

    /// Reads the source to its end before anything is sent, so that the length is known and nothing waits for it.
    static func streamed(_ body: HTTPBody, _ announced: Int64?) async throws -> (Source, Int64?) {
        var spool = Spool()
        do {
            let count = try await withTaskCancellationHandler {
                try await spool.fill(from: body, inMemory: inMemory, announced: announced)
            } onCancel: {
                body.cancel()
            }
            return (try spool.finish(), count)
        } catch {
            spool.discard()
            body.cancel()
            if Task.isCancelled { throw ErrandError(.cancelled, "the transfer was cancelled") }
            throw failure(error)
        }
    }

    private struct Spool {
        private var data = Data()
        private var file: (url: URL, handle: FileHandle)?

        mutating func fill(from body: HTTPBody, inMemory limit: Int, announced: Int64?) async throws -> Int64 {
            var count: Int64 = 0
            for try await chunk in body {
                count += Int64(chunk.count)
                if let announced, count > announced { throw Upload.wrongLength(announced, count) }
                data.append(chunk)
                if data.count > limit { try spill() }
            }
            if let announced, count < announced { throw Upload.wrongLength(announced, count) }
            return count
        }

        private mutating func spill() throws {
            if file == nil {
                let name = "errand-body-\(UUID().uuidString)"
                let url = FileManager.default.temporaryDirectory.appendingPathComponent(name)
                let isMade = FileManager.default.createFile(
                    atPath: url.path, contents: nil, attributes: [.posixPermissions: 0o600])
                guard isMade, let handle = FileHandle(forWritingAtPath: url.path) else {
                    throw ErrandError(.file, "no file for the body could be made in the temporary directory")
                }
                file = (url, handle)
            }
            do { try file?.handle.write(contentsOf: data) } catch {
                throw ErrandError(.file, "the body could not be written to a temporary file", underlying: error)
            }
            data = Data()
        }

        mutating func finish() throws -> Source {
            if file == nil { return data.isEmpty ? .none : .data(data) }
            try spill()
            guard let file else { return .none }
            try? file.handle.close()
            return .file(file.url, isOurs: true)
        }

        mutating func discard() {
            guard let file else { return }
            try? file.handle.close()
            try? FileManager.default.removeItem(at: file.url)
        }
    }
}
#endif
