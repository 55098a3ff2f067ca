import Errand
import ErrandDigests
import ErrandHTTPSyntax
import ErrandSupport
import ErrandTesting
import Foundation
import Testing

@testable import ErrandResumableDownload

@Suite("A download's decisions depend only on heads and numbers", .leakChecked) struct DecisionTests {
    @Test("strong validators are distinguished from all other validators")
    func validators() {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        func strong(_ headers: HTTPHeaders) -> String? { StrongValidator(strongIn: headers)?.value }
        #expect(strong(["ETag": "\"a\""]) == "\"a\"")
        #expect(strong(["ETag": "\"\""]) == "\"\"")
        for weak in [
            "W/\"a\"", "a", "\"a", "\"a\"b\"", "\"a\tb\"", "", "\"" + String(repeating: "a", count: 1100) + "\"",
        ] {
            #expect(strong(["ETag": weak, "Last-Modified": date, "Date": "Mon, 07 Nov 1994 08:49:37 GMT"]) == nil)
        }
        #expect(strong(["ETag": "\"a\"", "etag": "\"b\""]) == nil)
        #expect(strong(["Last-Modified": date, "Date": "Sun, 06 Nov 1994 08:50:37 GMT"]) == date)
        #expect(strong(["Last-Modified": date, "Date": "Sun, 06 Nov 1994 08:50:36 GMT"]) == nil)
        #expect(strong(["Last-Modified": date]) == nil && strong([:]) == nil)
        #expect(StrongValidator(strongIn: ["ETag": "\"a\""])?.matches(["ETag": "W/\"a\""]) == false)
        #expect(StrongValidator(strongIn: ["ETag": "\"\u{E9}\""])?.matches(["ETag": "\"e\u{301}\""]) == false)
    }

    @Test("valid and invalid Content-Range fields are distinguished")
    func contentRanges() {
        func parsed(_ text: String) -> ContentRange? { ContentRange(in: ["Content-Range": text]) }
        #expect(parsed("bytes 0-0/1") == .part(first: 0, last: 0, total: 1))
        #expect(parsed("Bytes 7-9/*") == .part(first: 7, last: 9, total: nil))
        #expect(parsed("bytes */10") == .unsatisfied(total: 10))
        for wrong in [
            "", "bytes", "bytes 1-2", "bytes 2-1/10", "bytes 1-10/10", "bytes -1-2/10", "bytes 1-2/x", "bytes +1-2/10",
            "bytes */*", "pages 1-2/10", "bytes 1-2/10/10", "bytes 0x1-2/10", "bytes 1-99999999999999999999/*",
            "bytes 1-2/10, 3-4/10", "bytes 9223372036854775806-9223372036854775807/*",
        ] {
            #expect(parsed(wrong) == nil, "\(wrong)")
        }
        #expect(
            ContentRange(
                in: HTTPHeaders([.init("Content-Range", "bytes 0-0/1"), .init("Content-Range", "bytes 0-0/1")]))
                == nil)
    }

    @Test("another filter's failure is retryable if it declares that, a failure of the download itself isn't")
    func temporary() {
        struct Failure: RequestFailure { let isRetryable: Bool }
        func isTemporary(_ error: any Error) -> Bool { TransferRetries.isTemporary(error) }
        #expect(isTemporary(Failure(isRetryable: true)) && !isTemporary(Failure(isRetryable: false)))
        #expect(!isTemporary(TransferError(.busy, "busy")) && !isTemporary(CancellationError()))
    }

    @Test("a plan splits the longest missing range, joins finished ranges, and doesn't lose ranges", arguments: 0..<200)
    func plans(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed) &* 77 + 1)
        let total = Int64.random(in: 0...10_000, using: &random)
        var plan = RangePlan(total: total)
        for _ in 0..<20 {
            let before = plan
            switch Int.random(in: 0..<5, using: &random) {
            case 0:
                plan.split(
                    into: Int.random(in: 1...16, using: &random), minimum: Int64.random(in: 1...900, using: &random))
                #expect(plan.received == before.received)
            case 1: plan.reopen()
            case 2:
                let index = Int.random(in: 0..<plan.parts.count, using: &random)
                let (part, place) = (plan.parts[index], Int64.random(in: 0...10_000, using: &random))
                let rest = plan.divide(index, at: place)
                #expect(plan.received == before.received && plan.total == before.total)
                if let rest {
                    #expect(rest == place && plan.parts.contains { $0.start == rest && $0.end == part.end })
                } else if plan.parts.count < RangePlan.limit {
                    #expect(place <= part.start || place < part.next || place >= part.end ?? 0)
                }
                #expect(Set(plan.parts.map(\.start)).count == plan.parts.count)
                // The flushed bytes are always a subset of the received bytes, however they are divided now.
                let flushed = plan.limited(to: before)
                #expect(flushed == plan && RangePlan(checking: flushed.parts, total: total) == plan)
                #expect(plan.limited(to: RangePlan(total: total)).received == 0)
            default:
                let index = Int.random(in: 0..<plan.parts.count, using: &random)
                let left = try #require(plan.parts[index].left)
                plan.advance(index, by: Int64.random(in: 0...max(0, left), using: &random))
            }
            #expect(RangePlan(checking: plan.parts, total: total) == plan)
            #expect(plan.frontier <= total && plan.extent >= plan.frontier || plan.received == 0)
        }
        var collapsed = plan
        collapsed.collapse()
        #expect(collapsed.received == plan.frontier && collapsed.parts.count == 1)
    }

    @Test("an impossible plan from the disk is ignored")
    func impossiblePlans() {
        typealias Part = RangePlan.Part
        let wrong: [([Part], Int64?)] = [
            ([], nil), ([Part(start: 1, end: 2)], 2), ([Part(start: 0, end: 5)], 6), ([Part(start: 0, end: 5)], nil),
            ([Part(start: 0, end: 5, done: 6)], 5), ([Part(start: 0, end: 5, done: -1)], 5),
            ([Part(start: 0, end: 5), Part(start: 6, end: 9)], 9),
            ([Part(start: 0, end: nil), Part(start: 5, end: 9)], 9),
            ([Part(start: 0, end: -5)], -5), ([Part(start: 0, end: .max)], .max),
            ([Part(start: 0, end: nil, done: .max)], nil),
            (Array(repeating: Part(start: 0, end: 0), count: 65), 0),
        ]
        for (parts, total) in wrong { #expect(RangePlan(checking: parts, total: total) == nil) }
    }

    @Test("a download error's description names its code and URL, and its text for people the file")
    func namesRequest() async throws {
        let url = "https://api.example.com/film.mp4?token=canary"
        let agent = NetworkAgent(baseURL: "", transport: .stub(.text("x")), filters: [.downloads])
        let error = await #expect(throws: TransferError.self) {
            try await agent.send(Get(URL(filePath: "/no/such/directory/film.mp4"), path: url))
        }
        let request = "GET https://api.example.com/film.mp4?token=•••"
        #expect(error?.request?.url.absoluteString == url)
        #expect(error?.description == "noDirectory: \(request): \(error?.message ?? "")")
        #expect(error?.localizedDescription == FailureSentence.fileFailed.text())
    }

    @Test("a download error has a sentence for people, and a number that never changes")
    func sentences() throws {
        let error = #expect(throws: TransferError.self) {
            try ResumableDownloadFilter.partialDownloads(in: URL(filePath: "/no/such/directory"))
        }
        #expect(error?.code == .noDirectory && error?.errorCode == 3)
        #expect(error?.message.contains("/no/such/directory") == true)
        #expect(error?.localizedDescription == FailureSentence.fileFailed.text())
        let codes: [TransferError.Code] = [
            .invalidRequest, .busy, .noDirectory, .notAFile, .noPermission, .noSpace, .fileFailed, .tooManyOpenFiles,
            .expectedChecksumMismatch, .serverDigestMismatch, .unsupportedContentCoding, .tooLarge, .mirrorMismatch,
            .changedTooOften, .unusableResponse,
        ]
        #expect(codes.map(\.number) == Array(1...codes.count))
    }

    private struct Signature: Filter {
        var traits: FilterTraits { .signs }
        func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
    }

    @Test("the filter explains itself, and why a signature must not come before it")
    func explanation() {
        #expect(ResumableDownloadFilter().orderProblem(after: Signature())?.contains("signature") == true)
        #expect(ResumableDownloadFilter().orderProblem(after: ResumableDownloadFilter()) == nil)
        #expect(ResumableDownloadFilter().explanation == "downloads to a file, resumed after failures")
        #expect(
            ResumableDownloadFilter(DownloadOptions(maximumSegments: 4)).explanation
                == "downloads to a file in 4 segments, resumed after failures")
    }

    @Test("file names from servers are sanitized")
    func names() throws {
        let names: [(String, String)] = [
            ("attachment; filename=\"film.mp4\"", "film.mp4"), ("attachment; filename=film.mp4", "film.mp4"),
            ("attachment; filename*=UTF-8''na%C3%AFve%20file.txt; filename=\"x\"", "naïve file.txt"),
            ("attachment; filename=\"x\"; filename*=utf-8'en'%e2%82%ac.txt", "€.txt"),
            ("attachment; filename*=ISO-8859-1''%A3.txt", "£.txt"), ("filename=bare.txt", "bare.txt"),
            ("attachment; filename*=UTF-8''%FF; filename=plain", "plain"), ("attachment; FileName=\"a\\\"b\"", "ab"),
            ("attachment; filename=\"../../etc/passwd\"", "passwd"),
            ("attachment; filename=\"..\\\\..\\\\boot.ini\"", "boot.ini"),
            ("attachment; filename*=UTF-8''..%2F..%2F.bashrc", "bashrc"),
            ("attachment; filename=\".hidden\"", "hidden"),
            ("attachment; filename=\"...\"", "last.bin"), ("attachment; filename=\"\"", "last.bin"),
            ("inline", "last.bin"),
            ("attachment; filename=\"a\u{0}b\u{7}\r\nc.txt\"", "abc.txt"),
            ("attachment; filename=\"CON.txt\"", "_CON.txt"),
            ("attachment; filename=\"lpt1\"", "_lpt1"), ("attachment; filename=\"exe.\u{202E}gpj\"", "exe.gpj"),
            ("attachment; filename=\"trailing. . \"", "trailing"), ("attachment; filename=\"a;b.txt\"; x=y", "a;b.txt"),
            ("attachment; filename=\"errand-0.part\"", "_errand-0.part"),
            ("attachment; filename=\"a:b|c?.txt\"", "abc.txt"),
        ]
        let url = try #require(URL(string: "https://example.com/a/last.bin?x=1"))
        for (field, name) in names { #expect(SafeFileName.choose(disposition: field, url: url) == name, "\(field)") }
        let long = SafeFileName.clean(String(repeating: "ä", count: 300) + ".mp4")
        #expect(long?.utf8.count ?? 999 <= 200 && long?.hasSuffix("ä.mp4") == true)
        // A hand with the color of its skin takes eight bytes, and 24 of them fit.
        let hands = SafeFileName.clean(String(repeating: "\u{1F44D}\u{1F3FD}", count: 60) + ".mp4")
        #expect(hands == String(repeating: "\u{1F44D}\u{1F3FD}", count: 24) + ".mp4")
        for (text, name) in [
            ("https://example.com/", "download"), ("https://example.com/..%2f..%2fetc/", "etc"),
            ("https://example.com/a%2Fb.txt", "b.txt"), ("https://example.com/%2e%2e", "download"),
            ("https://example.com/%C3%A9/caf%E9.txt", "café.txt"), ("https://example.com/caf%C3%A9.txt?a", "café.txt"),
        ] {
            #expect(SafeFileName.choose(disposition: nil, url: try #require(URL(string: text))) == name, "\(text)")
        }
        #expect(SafeFileName.numbered("a.tar.gz", 2) == "a.tar (2).gz" && SafeFileName.numbered("a", 3) == "a (3)")
    }

    @Test("a name of any characters is harmless after sanitizing, which then doesn't change it further")
    func anyName() throws {
        var random = SeededGenerator(seed: 33)
        let pieces = [
            ".", "..", " ", "\u{A0}", "/", "\\", "\u{301}", "\u{200D}", "\u{202E}", "\u{0}", "\r\n", "a", "Ä", "😀", "👩‍👩‍👧",
            "con",
            "COM¹", "nul ", ".txt", ".bashrc", "errand-", ".part", ".part-info", "\u{FE0F}", "\u{0F71}", "~",
            "\u{3000}", "e\u{301}",
        ]
        func isHarmless(_ name: String) -> Bool {
            let bytes = Array(name.utf8)
            let dots: [UInt8?] = [UInt8(ascii: "."), UInt8(ascii: " ")]
            let stem = String(decoding: bytes.prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self)
            return !bytes.isEmpty && bytes.count <= 200 && !dots.contains(bytes.first) && !dots.contains(bytes.last)
                && !bytes.contains { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
                && !["con", "nul", "com¹", "com1"].contains(stem.lowercased())
                && !(bytes.starts(with: "errand-".utf8) && (name.hasSuffix(".part") || name.hasSuffix(".part-info")))
        }
        var names = [
            "a" + String(repeating: "\u{301}", count: 150) + ".bashrc", "x/\u{301}..\u{301}/\u{301}y",
            ".\u{301}profile",
            String(repeating: "a", count: 198) + " b", String(repeating: "\u{301}", count: 400), "con.\u{301}x",
            String(repeating: "x", count: 190) + String(repeating: ".", count: 30) + "y",
            "errand-" + String(repeating: "x", count: 190) + ".part",
        ]
        for _ in 0..<20_000 {
            var name = ""
            for _ in 0..<random.below(8) {
                name += String(repeating: random.pick(pieces), count: random.chance(4) ? random.below(220) : 1)
            }
            names.append(name)
        }
        for name in names {
            guard let clean = SafeFileName.clean(name) else { continue }
            #expect(isHarmless(clean), "\(name.debugDescription) \(clean.debugDescription)")
            #expect(SafeFileName.clean(clean)?.utf8.elementsEqual(clean.utf8) == true, "\(name.debugDescription)")
            let numbered = Array(SafeFileName.numbered(clean, 2).utf8)
            #expect(numbered.first == clean.utf8.first && numbered.last != UInt8(ascii: ".") && numbered.count <= 210)
        }
        #expect(SafeFileName.clean(names[0])?.hasSuffix(".bashrc") == true)
        #expect(SafeFileName.clean(names[0])?.utf8.first == UInt8(ascii: "a"))
    }

    @Test(
        "attempts end after too many failures, consecutive or in total, or if the server asks for too long a wait")
    func retries() {
        var policy = TransferRetryPolicy(
            maximumFailures: 2, maximumAttempts: 8, backoff: Backoff(base: .seconds(1)), maximumWait: .seconds(10))
        var state = TransferRetries(policy)
        #expect((0..<2).allSatisfy { _ in state.wait(madeProgress: false) != nil })
        #expect(state.wait(madeProgress: true) != nil)
        #expect((0..<2).allSatisfy { _ in state.wait(madeProgress: false) != nil })
        #expect(state.wait(madeProgress: false) == nil, "the third failure in a row was the last")
        state = TransferRetries(policy)
        #expect((0..<7).allSatisfy { _ in state.wait(madeProgress: true) != nil })
        #expect(state.wait(madeProgress: true) == nil, "the eighth attempt was the last")
        state = TransferRetries(TransferRetryPolicy(maximumFailures: 1))
        #expect((0..<10_000).allSatisfy { _ in state.wait(madeProgress: true) != nil })
        state = TransferRetries(policy)
        func response(_ status: Int, _ after: String?) -> HTTPResponse {
            var headers = HTTPHeaders()
            if let after { headers.add("Retry-After", after) }
            return HTTPResponse(url: URL(filePath: "/"), status: status, headers: headers)
        }
        let now = Date(timeIntervalSince1970: 784_111_777)
        #expect(state.wait(after: response(503, "7"), madeProgress: false, now: now) == .seconds(7))
        #expect(state.wait(after: response(503, "11"), madeProgress: true, now: now) == nil)
        let date = "Sun, 06 Nov 1994 08:49:42 GMT"
        #expect(state.wait(after: response(429, date), madeProgress: true, now: now) == .seconds(5))
        #expect(state.wait(after: response(404, nil), madeProgress: true, now: now) == nil)
        policy = .off
        state = TransferRetries(policy)
        #expect(state.wait(madeProgress: true) == nil)
    }

    @Test("checksums and digests are accepted in every valid form, and in no other")
    func checksums() {
        let hex = String(repeating: "0aF", count: 21) + "9"
        #expect(
            Checksum.sha256(hex).bytes?.count == 32 && Checksum.sha256([UInt8](repeating: 7, count: 32)).bytes?[31] == 7
        )
        for wrong in ["", "abc", hex + "0", hex.replacingOccurrences(of: "0", with: "g")] {
            #expect(Checksum.sha256(wrong).bytes == nil)
        }
        let base64 = Data(repeating: 1, count: 32).base64EncodedString()
        #expect(DigestField.sha256("sha-256=:\(base64):") == Array(repeating: 1, count: 32))
        #expect(DigestField.sha256("md5=:AAAA:, sha-256=:\(base64):") != nil)
        #expect(DigestField.sha256("a=\"x,sha-256=:AAAA:\", sha-256=:\(base64):;p=1") != nil)
        for wrong in [nil, "", "sha-256=\(base64)", "sha-256=:AAAA:", "sha-512=:\(base64):", "sha-256=:\(base64)x:"] {
            #expect(DigestField.sha256(wrong) == nil)
        }
    }

    @Test("the platform's SHA-256 equals the portable implementation's", arguments: [0, 1, 63, 64, 65, 1000, 100_000])
    func digests(count: Int) {
        let data = bytes(count)
        var (mine, platform) = (PortableSHA256(), PlatformSHA256.make())
        for start in stride(from: 0, to: count, by: 777) {
            let piece = data[start..<min(start + 777, count)]
            mine.update(piece.span)
            platform.update(piece.span)
        }
        #expect(mine.finalized() == platform.finalized())
    }
}
