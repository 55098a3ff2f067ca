import Errand
import ErrandSupport

import ErrandEssentials

extension DownloadRun {
    /// Checks the whole, flushes it, and puts it in its place.
    @concurrent func finish(_ response: HTTPResponse) async throws -> HTTPResponse {
        let total = file.plan.received
        meter.set(.verifying)
        try file.check(size: total)
        try digest.check(file, total: total)
        try Task.checkCancellation()
        var answer = response
        // Parts that were put together are what a 200 would have brought (RFC 9111, section 3.4).
        answer.status = response.status == 203 ? 203 : 200
        answer.headers.remove("Content-Range")
        answer.headers[.contentLength] = "\(total)"
        answer.body = HTTPBody(file: URL(filePath: file.path), length: total)
        do { try await exchange.judge(answer) } catch {
            // Fetching the rest again would not make it better.
            file.remove()
            throw error
        }
        try file.flush()
        try Task.checkCancellation()
        let path = try place()
        meter.end(at: total)
        answer.body = HTTPBody(file: URL(filePath: path), length: total)
        return answer
    }

    private func place() throws -> String {
        if let name = destination.name {
            let path = destination.path(of: name)
            try file.finish(replacing: path)
            return path
        }
        let name = file.suggestedName ?? "download"
        if options.nameClash == .replace {
            try file.finish(replacing: destination.path(of: name))
            return destination.path(of: name)
        }
        for number in 1...10_000 {
            let path = destination.path(of: number == 1 ? name : SafeFileName.numbered(name, number))
            if try file.finish(ifFree: path) { return path }
        }
        throw DownloadError(.file, "every name like \(name) is taken")
    }
}
