import Errand
import ErrandSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension DownloadRun {
    /// Notes what an answer says of the file, before its first byte is written.
    func accept(_ response: HTTPResponse, _ representation: Representation, isNew: Bool) throws {
        try checkCoding(response, representation)
        let disposition = response.headers["Content-Disposition"]
        let name =
            destination.name
            ?? (isNew || disposition != nil || file.suggestedName == nil
                ? SafeFileName.choose(disposition: disposition, url: response.url) : file.suggestedName)
        if isNew {
            try startOver(representation)
            try destination.checkSpace(for: representation.total ?? 0)
            meter.begin(at: 0, total: representation.total)
        } else if file.representation != representation {
            try file.change { record, plan in
                record.representation = representation
                if let total = representation.total, plan.total == nil { plan.end(at: total) }
            }
        }
        digest.expect(ReprDigest.sha256(response.headers["Repr-Digest"]))
        if name != file.suggestedName { try file.change { record, _ in record.name = name } }
    }

    /// The whole file, though perhaps only a part was asked for.
    func receiveWhole(
        _ response: HTTPResponse, _ representation: Representation, _ isSame: Bool, _ inquiry: Inquiry
    ) async throws {
        if isSame {
            // The server has no ranges, but the version is the same: what is here needs not be written again.
            if file.plan.parts.count > 1 { try file.change { $1.collapse() } }
            try accept(response, representation, isNew: false)
            exchange.note("download", "the server sends the whole; \(file.plan.frontier) bytes are skipped")
            try await receive(response, part: 0, skipping: file.plan.frontier, upTo: representation.total)
        } else {
            if inquiry.known != nil { exchange.note("download", "starts over: the file has changed on the server") }
            try accept(response, representation, isNew: true)
            try await receive(response, part: 0, skipping: 0, upTo: representation.total)
        }
    }

    /// Writes a body where it belongs: behind what is here of a part, its first bytes left out, and never behind `end`.
    func receive(_ response: HTTPResponse, part index: Int, skipping: Int64, upTo end: Int64?) async throws {
        let first = file.plan.parts[index].next
        let length = end.map { $0 - first }
        var content = ContentDigest(response)
        var (skip, written) = (skipping, Int64(0))
        var lastFlush = exchange.time.now
        var unflushed = 0
        // What cannot be fetched again is only held back.
        let isResumable = isRepeatable && file.representation?.validator != nil
        try await control.interruptible {
            if isResumable { response.body.cancel() }
            return isResumable
        } _: {
            for try await chunk in response.body {
                if control.isPaused, !isResumable { try await control.waitUntilResumed() }
                var chunk = chunk
                content.update(chunk)
                if skip > 0 {
                    let count = min(skip, Int64(chunk.count))
                    skip -= count
                    chunk = chunk.dropFirst(Int(count))
                    if chunk.isEmpty { continue }
                }
                written += Int64(chunk.count)
                if let length, written > length {
                    throw ErrandError(.invalidResponse, "more than the \(length) bytes announced came")
                }
                try file.write(chunk, part: index)
                digest.update(chunk, at: first + written - Int64(chunk.count))
                meter.add(Int64(chunk.count))
                unflushed += chunk.count
                if unflushed >= 16 << 20 {
                    file.beginFlush()
                    unflushed = 0
                    let now = exchange.time.now
                    if lastFlush.duration(to: now) >= .seconds(5) {
                        try file.flush()
                        lastFlush = now
                    }
                }
            }
        }
        if let length, written < length {
            throw ErrandError(.truncated, "\(length) bytes announced, \(written) received", response: response)
        }
        if end == nil { file.end(at: first + written) }
        try content.check()
    }

    /// Bytes in a coding that nobody asked for are no file, unless the file is one of that kind.
    private func checkCoding(_ response: HTTPResponse, _ representation: Representation) throws {
        let coding = representation.coding
        if coding.isEmpty { return }
        let name = (destination.name ?? response.url.lastPathComponent).lowercased()
        let endings = ["gzip": [".gz", ".tgz"], "x-gzip": [".gz", ".tgz"], "br": [".br"], "zstd": [".zst", ".tzst"]]
        if endings[coding, default: []].contains(where: name.hasSuffix) { return }
        throw DownloadError(.contentCoding, "the server sends the file as \(coding) only")
    }
}
