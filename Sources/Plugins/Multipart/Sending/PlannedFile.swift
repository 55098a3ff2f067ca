import Errand
import ErrandEssentials
import ErrandSupport
import Synchronization

/// A file and its state when the request was built.
struct PlannedFile: Sendable {
    let path: String
    let length: Int64
    private let status: FileStatus

    /// Reads the file's state, which blocks the thread. Throws `fileFailed` unless the URL is a regular file.
    init(_ url: URL) throws {
        path = url.path
        do { status = try FileStatus(at: path) } catch {
            throw MultipartError.sending(.fileFailed, own: .fileUnreadable, error.description, underlying: error)
        }
        guard url.isFileURL, status.kind == .regular else {
            throw MultipartError.sending(
                .fileFailed, own: .fileUnreadable, "\(path.debugDescription) is not a regular file")
        }
        length = status.size
    }

    /// Opens the file, which blocks the thread. Throws if the file has changed since the request was built.
    fileprivate func open() throws -> SystemFile {
        try checkFile()
        do {
            let file = try SystemFile(path, [.read, .onlyRegular])
            try check(file.status)
            return file
        } catch let failure as SystemFile.Failure {
            throw MultipartError.sending(.fileFailed, own: .fileUnreadable, failure.description, underlying: failure)
        }
    }

    fileprivate func checkFile() throws { try check(try? FileStatus(at: path)) }

    fileprivate func check(_ now: FileStatus?) throws {
        guard let now else { throw changed("was removed") }
        if now.identity != status.identity { throw changed("was replaced") }
        if now.size < status.size { throw changed("shrank from \(status.size) to \(now.size) bytes") }
        if now.size > status.size { throw changed("grew from \(status.size) to \(now.size) bytes") }
        if now.modified != status.modified { throw changed("was changed") }
    }

    fileprivate func changed(_ how: String) -> ErrandError {
        MultipartError.sending(
            .fileFailed, own: .fileChanged, "\(path.debugDescription) \(how) since its request was built")
    }
}

/// Reads the file once, for one attempt.
final class PartFile: Sendable {
    private struct State: ~Copyable {
        var file: SystemFile?
        var rest: Int64
    }

    private static let pieceBytes = 256 << 10
    private let plan: PlannedFile
    private let state: Mutex<State>

    init(_ plan: PlannedFile) {
        self.plan = plan
        state = Mutex(State(file: nil, rest: plan.length))
    }

    /// Throws as soon as the file has changed, so the rest of the body isn't sent.
    @concurrent func next() async throws -> Data? {
        try Task.checkCancellation()
        return try state.withLock { state in
            if state.file == nil { state.file = try plan.open() }
            if state.rest == 0 {
                try plan.check(state.file?.status)
                try plan.checkFile()
                return nil
            }
            let piece: Data
            do { piece = try state.file?.readChunk(Int(min(Int64(Self.pieceBytes), state.rest))) ?? Data() } catch let
                failure as SystemFile.Failure
            {
                throw MultipartError.sending(
                    .fileFailed, own: .fileUnreadable, failure.description, underlying: failure)
            }
            try plan.check(state.file?.status)
            if piece.isEmpty { throw plan.changed("shrank") }
            state.rest -= Int64(piece.count)
            return piece
        }
    }
}
