import Errand
import ErrandEssentials
import ErrandSupport
import ErrandTransfers

extension DownloadRun {
    /// Verifies the complete file, flushes it, and moves it to its destination.
    @concurrent func finish(_ response: HTTPResponse) async throws -> HTTPResponse {
        let total = file.plan.received
        meter.set(.verifying)
        try file.check(size: total)
        try digest.check(file, total: total)
        try Task.checkCancellation()
        var complete = response
        // Joined parts are equivalent to the body of a 200 response (RFC 9111, section 3.4).
        complete.status = response.status == 203 ? 203 : 200
        complete.headers.remove(.contentRange)
        complete.headers[.contentLength] = "\(total)"
        complete.body = HTTPBody(file: URL(filePath: file.path), length: total)
        do { try await exchange.judge(complete) } catch {
            // The check would reject the same bytes again, unless it was cancelled.
            if !error.isCancellation, !Task.isCancelled { file.remove() }
            throw error
        }
        try file.flush()
        try Task.checkCancellation()
        let path = try moveToDestination()
        meter.end(at: total)
        complete.body = HTTPBody(file: URL(filePath: path), length: total)
        return complete
    }

    private func moveToDestination() throws -> String {
        if let name = destination.name {
            let path = destination.path(of: name)
            try file.finish(replacing: path)
            return path
        }
        // Clean the name again: in a shared directory, other users can write to the sidecar.
        let name = file.suggestedName.flatMap(SafeFileName.clean) ?? "download"
        if options.nameCollisionPolicy == .replace {
            try file.finish(replacing: destination.path(of: name))
            return destination.path(of: name)
        }
        for number in 1...10_000 {
            let path = destination.path(of: number == 1 ? name : SafeFileName.numbered(name, number))
            if try file.finish(ifFree: path) { return path }
        }
        throw TransferError(
            .fileFailed,
            "\(destination.path(of: name)) cannot be created: 10,000 files with this name and a number exist")
    }
}
