import Errand
import ErrandContentCodings
import ErrandEssentials

extension FilterLaw {
    /// The law that a body's meaning doesn't depend on its coding.
    public static let coding = FilterLaw(
        "coding", "law: decoding a request body by its Content-Encoding returns the original",
        advice: """
            Encode a body that already has a Content-Encoding by adding to the field, not by replacing it, or leave it \
            alone. Set the field only if you have encoded all bytes, and remove a Content-Length that has changed.
            """,
        share: 30,
        exchanges: { random in
            var exchange = LawExchange(random.pick([.post, .put, .patch]))
            let text = random.pick([
                "", "a", String(repeating: "law ", count: 100), String(repeating: "{\"law\":1}", count: 3_000),
                LawVocabulary.long,
            ])
            let half = text.utf8.count / 2
            let chunks = [String(text.prefix(half)), String(text.dropFirst(half))].filter { !$0.isEmpty }
            exchange.body = random.pick([
                .text(text), .text(text), .stream(chunks, isReplayable: true), .stream(chunks, isReplayable: false),
                .stream(chunks, isReplayable: true, hasLength: true), .stream(chunks, hasLength: true),
            ])
            exchange.headers[.contentType] = "text/plain"
            exchange.headers[.contentEncoding] = random.pick([nil, nil, "x-law", "br", "gzip, x-law", "x-law, gzip"])
            return [exchange]
        }
    ) { bench, exchanges in
        for pair in try await bench.pairs(exchanges) {
            guard let plain = pair.expected.sends.first, let original = plain.body else { continue }
            for send in pair.came.sends {
                guard let body = send.body else { continue }
                let length = send.http.headers[.contentLength].flatMap { Int($0) }
                if let length, length != body.count, plain.http.headers[.contentLength] == nil {
                    return LawViolation(expected: "Content-Length: \(body.count)", came: "\(length)")
                }
                let (before, after) = (codings(of: plain), codings(of: send))
                if before == after { continue }
                let isExtended = after.starts(with: before)
                guard isExtended || body == original && before.filter({ $0 != "identity" }) == after else {
                    return LawViolation(
                        expected: "the codings \(before), and possibly others after them", came: "\(after)")
                }
                let added = Array(after.dropFirst(before.count))
                if let problem = difference(of: body, codedBy: added, from: original) {
                    return LawViolation(
                        expected: "the body of \(original.count) bytes, once \(added) is decoded", came: problem)
                }
            }
        }
        return nil
    }

    private static let longestBody = 64 << 20

    private static func codings(of send: LawTrace.Send) -> [String] {
        send.http.headers.values(of: .contentEncoding).joined(separator: ",").split(separator: ",").map { name in
            name.lowercased().filter { $0 != " " && $0 != "\t" }
        }
    }

    /// Returns `nil` if the bodies are equal, or if the suite can't decode a coding.
    private static func difference(of body: Data, codedBy codings: [String], from original: Data) -> String? {
        var data = body
        for coding in codings.reversed() where coding != "identity" {
            guard ["gzip", "x-gzip", "deflate"].contains(coding), ContentCodings.canDecode(coding) else { return nil }
            // Some decoders also accept deflate without its zlib frame (section 8.4.1.2).
            let isFramed = coding != "deflate" || data.first.map { $0 & 15 == 8 } ?? false
            guard isFramed, let decoded = ContentCodings.decoded(Array(data), coding, upTo: longestBody)
            else { return "bytes that aren't \(coding)" }
            data = Data(decoded)
        }
        return data == original ? nil : "\(data.count) bytes that differ from it"
    }
}
