import Errand
import Foundation
import Testing

@testable import ErrandResumableUpload

@Suite("Decisions about segments") struct SegmentDecisionTests {
    private func places(_ count: Int, length: Int = 30) throws -> [UploadResource] {
        try (0..<count).map { index in
            let name = String(repeating: "x", count: length)
            return UploadResource(url: try #require(URL(string: "https://a.example/\(name)\(index)")))
        }
    }

    @Test(
        "a body is divided into segments of similar length",
        arguments: [2, 100, 101, 12_345_678_901, 1 << 60], [0, 1, 2, 3, 16, 99])
    func split(total: Int64, count: Int) throws {
        let segments = UploadSegment.split(total, into: count, minimum: 1)
        guard count > 1 else { return #expect(segments == nil) }
        let found = try #require(segments)
        #expect(Int64(found.count) == min(Int64(count), 16, total))
        #expect(UploadSegment.areWhole(found, of: total))
        let lengths = found.map(\.length)
        #expect(try #require(lengths.max()) - #require(lengths.min()) <= 1)
    }

    @Test("no segment is shorter than the minimum, and a single segment isn't used")
    func minimum() {
        #expect(UploadSegment.split(99, into: 4, minimum: 50) == nil)
        #expect(UploadSegment.split(100, into: 4, minimum: 50)?.map(\.start) == [0, 50])
        #expect(UploadSegment.split(149, into: 4, minimum: 50)?.map(\.end) == [75, 149])
        #expect(
            UploadSegment.split(0, into: 4, minimum: 0) == nil && UploadSegment.split(1, into: 4, minimum: -1) == nil)
    }

    @Test("segments from a file are trusted only if they are adjacent and complete")
    func whole() throws {
        let segments = try #require(UploadSegment.split(100, into: 4, minimum: 1))
        #expect(UploadSegment.areWhole(segments, of: 100))
        #expect(!UploadSegment.areWhole(segments, of: 101) && !UploadSegment.areWhole(segments, of: nil))
        #expect(!UploadSegment.areWhole(Array(segments.dropFirst()), of: 100))
        #expect(!UploadSegment.areWhole(segments.reversed(), of: 100) && !UploadSegment.areWhole([], of: 0))
        for change in [
            { (segment: inout UploadSegment) in segment.start -= 1 }, { $0.end = $0.start }, { $0.end = .max },
            { $0.acknowledged = -1 }, { $0.acknowledged = 26 }, { $0.end += 1 },
        ] {
            var wrong = segments
            change(&wrong[1])
            #expect(!UploadSegment.areWhole(wrong, of: 100))
        }
        let many = (0..<17).map { UploadSegment(start: $0, end: $0 + 1) }
        #expect(!UploadSegment.areWhole(many, of: 17))
    }

    @Test("a written Upload-Concat is read back unchanged, and invalid values are ignored")
    func field() {
        for concat in [UploadConcat.partial, .final(["/a", "https://b.example/c"])] {
            #expect(UploadConcat([UploadConcat.name: concat.text]) == concat)
        }
        #expect(UploadConcat(["Upload-Concat": " Final ; /a  /b "]) == .final(["/a", "/b"]))
        #expect(UploadConcat(["Upload-Concat": "final"]) == .final([]))
        for text in ["", "partial;/a", "other", ";", "finally;/a"] {
            #expect(UploadConcat(["Upload-Concat": text]) == nil, "\(text)")
        }
        var twice: HTTPHeaders = ["Upload-Concat": "partial"]
        twice.add("Upload-Concat", "partial")
        #expect(UploadConcat(twice) == nil && UploadConcat([:]) == nil)
    }

    @Test("the locations to join are no longer than the field allows", arguments: 2...16)
    func length(count: Int) throws {
        for length in [30, 300, 430, 3000] {
            let places = try places(count, length: length)
            guard places.allSatisfy({ UploadConcat.fits($0.url, among: count) }) else { continue }
            #expect(UploadConcat.final(places.map(\.url.absoluteString)).text.utf8.count <= UploadConcat.maximumBytes)
        }
        #expect(try UploadConcat.fits(places(1, length: 400)[0].url, among: count))
        #expect(try !UploadConcat.fits(places(1, length: 7000)[0].url, among: count))
    }

    @Test("segments are sent without metadata, and the joining request with metadata and without a length")
    func requests() throws {
        var server = UploadServer(.tus)
        server.extensions = ["creation", "creation-with-upload"]
        #expect(!server.joinsSegments)
        server.extensions.insert("concatenation")
        #expect(server.joinsSegments)
        var plan = UploadPlan(total: 1 << 20, metadata: ["filename": "a"], server: server)
        plan.isSegment = true
        let segment = server.dialect.creation(plan, method: .put, digest: nil)
        #expect(segment.method == .post && segment.part == nil)
        #expect(
            segment.headers == ["Tus-Resumable": "1.0.0", "Upload-Length": "1048576", "Upload-Concat": "partial"])
        let joining = TusDialect(server: server).joining(try places(2, length: 1), ["filename": "a"])
        #expect(
            joining.headers == [
                "Tus-Resumable": "1.0.0", "Upload-Concat": "final;https://a.example/x0 https://a.example/x1",
                "Upload-Metadata": "filename YQ==",
            ])
        #expect(joining.method == .post && joining.part == nil)
        server.uploadProtocol = .draft8
        #expect(!server.joinsSegments)
    }

    @Test("a location that no longer holds a segment is lost")
    func inquiry() throws {
        var plan = UploadPlan(total: 100, server: UploadServer(.tus))
        plan.isSegment = true
        func verdict(_ concat: String?) throws -> UploadVerdict {
            var headers: HTTPHeaders = ["Upload-Offset": "7", "Upload-Length": "100"]
            headers["Upload-Concat"] = concat
            let response = HTTPResponse(
                url: try #require(URL(string: "https://a.example/files/7")), status: 200, headers: headers)
            return plan.server.dialect.verdict(onInquiry: response, plan)
        }
        #expect(try verdict("partial") == .has(7) && verdict(nil) == .has(7))
        guard case .gone = try verdict("final;/a /b") else { return #expect(Bool(false)) }
        plan.isSegment = false
        #expect(try verdict("final;/a /b") == .has(7))
    }

    @Test("a record from before segments existed can be read, and a record with segments has their locations")
    func record() throws {
        let old = """
            {"acknowledged":5,"format":1,"request":"r","resource":{"url":"http://a.example/1"},"server":{"algorithms":[],\
            "extensions":["creation"],"isConfirmed":true,"limits":{},"uploadProtocol":"tus"},"source":{"digest":"d",\
            "size":9},"url":"http://a.example/"}
            """
        var record = try JSONDecoder().decode(UploadRecord.self, from: Data(old.utf8))
        #expect(record.segments == nil && record.mayBeJoined == nil && record.places.count == 1)
        record.resource = nil
        record.segments = try places(16, length: 400).map { UploadSegment(start: 0, end: 1, resource: $0) }
        record.mayBeJoined = true
        let data = try JSONEncoder().encode(record)
        #expect(try JSONDecoder().decode(UploadRecord.self, from: data) == record)
        #expect(record.places.count == 16 && data.count < 14_000)
    }
}
