import Errand
import Foundation
import Testing

@testable import ErrandResumableUpload

@Suite("Requests and responses of uploads") struct DialectTests {
    private func response(_ status: Int, _ headers: HTTPHeaders = [:]) throws -> HTTPResponse {
        HTTPResponse(url: try #require(URL(string: "https://a.example/files/7")), status: status, headers: headers)
    }

    private func plan(_ uploadProtocol: UploadProtocol, total: Int64? = 100, isConfirmed: Bool = true) -> UploadPlan {
        var server = UploadServer(uploadProtocol)
        server.isConfirmed = isConfirmed
        return UploadPlan(total: total, server: server)
    }

    @Test(
        "a part is as large as one request allows, but not smaller than the server's minimum",
        arguments: [0, 30, 99, 100])
    func parts(offset: Int64) {
        var limits = UploadLimits()
        func part(_ maximum: Int64?) -> UploadPart { UploadPart(at: offset, of: 100, within: limits, upTo: maximum) }
        #expect(part(nil) == UploadPart(offset: offset, count: 100 - offset, isLast: true))
        limits.maximumRequestBytes = 40
        #expect(part(nil).count == min(40, 100 - offset) && part(30).count == min(30, 100 - offset))
        #expect(part(30).isLast == (offset >= 70))
        limits.minimumRequestBytes = 35
        #expect(part(30).count == min(35, 100 - offset))
        limits = UploadLimits()
        limits.maximumRequestBytes = 0
        #expect(part(nil).count == min(1, 100 - offset))
        #expect(UploadPart(at: offset, of: nil, within: limits, upTo: 5).count == nil)
    }

    @Test("both draft versions send their number, and a server that may not know the drafts gets the whole body")
    func draftRequests() {
        for (uploadProtocol, version) in [(UploadProtocol.draft6, "6"), (.draft8, "8")] {
            var plan = plan(uploadProtocol, isConfirmed: false)
            plan.maximumRequestBytes = 10
            let dialect = plan.server.dialect
            let whole = dialect.creation(plan, method: .put, digest: [1, 2])
            #expect(whole.method == .put && whole.part?.count == 100)
            #expect(
                whole.headers == [
                    "Upload-Draft-Interop-Version": version, "Upload-Complete": "?1", "Upload-Length": "100",
                    "Repr-Digest": "sha-256=:AQI=:",
                ])
            plan.server.isConfirmed = true
            let part = dialect.creation(plan, method: .post, digest: nil)
            #expect(part.part?.count == 10 && part.headers["Upload-Complete"] == "?0")
            let last = dialect.append(UploadPart(offset: 90, count: 10, isLast: true), digest: nil)
            #expect(last.method == .patch && last.headers["Upload-Offset"] == "90")
            #expect(last.headers["Upload-Complete"] == "?1")
            #expect(last.headers[.contentType] == "application/partial-upload")
            #expect(dialect.inquiry().method == .head && dialect.termination().method == .delete)
            #expect(dialect.inquiry().headers["Upload-Draft-Interop-Version"] == version)
        }
    }

    @Test("the last byte is held back, or all bytes if fewer than the server's minimum are left, or it is unknown")
    func heldBack() {
        for uploadProtocol in [UploadProtocol.draft6, .draft8, .tus] {
            var plan = plan(uploadProtocol)
            plan.server.extensions = ["creation-with-upload"]
            func count() -> Int64 {
                plan.server.dialect.creation(plan, method: .post, digest: nil).part?.count ?? 0
            }
            #expect(count() == 100)
            plan.heldBack = .lastByte
            #expect(count() == 99)
            plan.heldBack = .everything
            #expect(count() == 0)
            plan.heldBack = .lastByte
            plan.maximumRequestBytes = 10
            #expect(count() == 10, "the part hasn't the end")
            plan.maximumRequestBytes = nil
            plan.total = 1
            #expect(count() == 0)
            if uploadProtocol == .tus { continue }
            plan.total = 100
            plan.server.limits.minimumRequestBytes = 100
            #expect(count() == 0)
            plan.server.limits.minimumRequestBytes = nil
            plan.total = nil
            #expect(count() == 0)
            plan.server.isConfirmed = false
            plan.total = 100
            #expect(count() == 100, "a server that may not know the protocol gets all")
        }
    }

    @Test(
        "with tus, the creating request has the body's length and no body, or the first bytes if the server allows it")
    func tusRequests() {
        var plan = plan(.tus)
        plan.metadata = ["filename": "a b.txt", "is_confidential": "", "bad key": "x", "": "y"]
        let empty = plan.server.dialect.creation(plan, method: .post, digest: nil)
        #expect(empty.part == nil && empty.headers["Upload-Length"] == "100")
        #expect(empty.headers["Upload-Metadata"] == "filename YSBiLnR4dA==,is_confidential")
        plan.server.extensions = ["creation-with-upload", "checksum"]
        #expect(plan.server.dialect.creation(plan, method: .post, digest: nil).part?.count == 100)
        let part = UploadPart(offset: 5, count: 10, isLast: false)
        #expect(plan.server.dialect.append(part, digest: [1]).headers["Upload-Checksum"] == nil)
        plan.server.algorithms = ["sha256"]
        let append = plan.server.dialect.append(part, digest: [1])
        #expect(append.headers["Upload-Checksum"] == "sha256 AQ==" && append.headers["Tus-Resumable"] == "1.0.0")
        #expect(append.headers[.contentType] == "application/offset+octet-stream")
        plan.total = 0
        #expect(plan.server.dialect.creation(plan, method: .post, digest: nil).part == nil)
    }

    @Test("with the draft, a response without `Upload-Complete: ?0` ends the upload")
    func draftVerdicts() throws {
        let plan = plan(.draft8)
        let (dialect, part) = (plan.server.dialect, UploadPart(offset: 50, count: 50, isLast: true))
        func created(_ status: Int, _ headers: HTTPHeaders = [:], isLast: Bool = true) throws -> UploadVerdict {
            let part = UploadPart(offset: 0, count: 100, isLast: isLast)
            return dialect.verdict(onCreation: try response(status, headers), plan, part: part)
        }
        #expect(try created(201) == .complete && created(201, ["Upload-Complete": "?1"]) == .complete)
        #expect(try created(422, ["Upload-Complete": "?1"]) == .complete && created(422) == .refused)
        #expect(try created(201, ["Upload-Complete": "?0", "Upload-Offset": "7"]) == .has(7))
        #expect(try created(201, ["Upload-Complete": "?0"], isLast: false) == .has(nil))
        guard case .unusable = try created(201, isLast: false) else { return #expect(Bool(false)) }

        func found(_ status: Int, _ headers: HTTPHeaders = [:]) throws -> UploadVerdict {
            dialect.verdict(onInquiry: try response(status, headers), plan)
        }
        #expect(try found(204, ["Upload-Offset": "7", "Upload-Complete": "?0"]) == .has(7))
        #expect(try found(204, ["Upload-Offset": "100", "Upload-Complete": "?1"]) == .complete)
        #expect(try found(503) == .refused)
        for gone in [
            try found(404), try found(410), try found(204), try found(204, ["Upload-Offset": "-1"]),
            try found(204, ["Upload-Offset": "1", "Upload-Length": "99"]),
            try found(204, ["Upload-Offset": "99999999999999999999"]),
        ] {
            guard case .gone = gone else {
                Issue.record("\(gone)")
                continue
            }
        }

        func appended(_ status: Int, _ headers: HTTPHeaders = [:]) throws -> UploadVerdict {
            dialect.verdict(onAppend: try response(status, headers), plan, part: part)
        }
        #expect(try appended(200) == .complete && appended(500) == .refused)
        #expect(try appended(201, ["Upload-Complete": "?0", "Upload-Offset": "60"]) == .has(60))
        #expect(try appended(409, ["Upload-Offset": "20"]) == .has(20) && appended(409) == .has(nil))
        let middle = UploadPart(offset: 0, count: 10, isLast: false)
        #expect(dialect.verdict(onAppend: try response(201), plan, part: middle) == .has(10))
    }

    @Test("with tus, an upload is complete when the server has all bytes")
    func tusVerdicts() throws {
        let plan = plan(.tus)
        let (dialect, part) = (plan.server.dialect, UploadPart(offset: 50, count: 50, isLast: true))
        #expect(dialect.verdict(onCreation: try response(201), plan, part: nil) == .has(0))
        #expect(dialect.verdict(onCreation: try response(201, ["Upload-Offset": "100"]), plan, part: nil) == .complete)
        #expect(dialect.verdict(onCreation: try response(413), plan, part: nil) == .refused)
        guard
            case .unusable = dialect.verdict(
                onCreation: try response(412, ["Tus-Version": "0.2.2"]), plan, part: nil)
        else { return #expect(Bool(false)) }
        #expect(dialect.verdict(onInquiry: try response(200, ["Upload-Offset": "100"]), plan) == .complete)
        #expect(dialect.verdict(onInquiry: try response(200, ["Upload-Offset": "9"]), plan) == .has(9))
        guard case .gone = dialect.verdict(onInquiry: try response(403), plan) else { return #expect(Bool(false)) }
        func appended(_ status: Int, _ headers: HTTPHeaders = [:]) throws -> UploadVerdict {
            dialect.verdict(onAppend: try response(status, headers), plan, part: part)
        }
        #expect(try appended(204, ["Upload-Offset": "100"]) == .complete)
        #expect(try appended(204, ["Upload-Offset": "70"]) == .has(70) && appended(204) == .has(nil))
        #expect(try appended(409) == .has(nil) && appended(423) == .refused)
        guard case .damaged = try appended(460) else { return #expect(Bool(false)) }
    }

    @Test("the response to OPTIONS determines the protocol, unless the app has")
    func offers() {
        func server(_ headers: HTTPHeaders, _ chosen: UploadProtocol = .automatic) -> UploadServer {
            UploadServer(offering: headers, chosen: chosen)
        }
        #expect(server([:]).uploadProtocol == .draft8 && !server([:]).isConfirmed)
        let tus = server([
            "Tus-Version": "1.0.0,0.2.2", "Tus-Extension": "Creation, checksum", "Tus-Max-Size": "7",
            "Tus-Checksum-Algorithm": "md5,SHA256",
        ])
        #expect(tus.uploadProtocol == .tus && tus.isConfirmed && tus.limits.maximumBytes == 7)
        #expect(tus.extensions == ["creation", "checksum"] && tus.algorithms == ["md5", "sha256"])
        #expect(server(["Tus-Version": "0.2.2"]).uploadProtocol == .draft8)
        let draft = server(["Upload-Limit": "max-size=9, max-append-size=5, min-append-size=2;x=1, max-age=3"])
        #expect(draft.uploadProtocol == .draft8 && draft.isConfirmed && draft.limits.maximumBytes == 9)
        #expect(draft.limits.maximumRequestBytes == 5 && draft.limits.minimumRequestBytes == 2)
        #expect(server(["Upload-Draft-Interop-Version": "6"]).uploadProtocol == .draft6)
        #expect(server(["Tus-Version": "1.0.0"], .draft6).uploadProtocol == .draft6)
        #expect(server([:], .tus).uploadProtocol == .tus)
    }

    @Test("ages and dates of both protocols are read, and unreadable values ignored")
    func fields() {
        let now = Date(timeIntervalSince1970: 1_000_000_000)
        func seconds(_ headers: HTTPHeaders) -> Double? {
            UploadFields.expiry(headers, now: now)?.timeIntervalSince(now)
        }
        #expect(seconds(["Upload-Limit": "max-age=60"]) == 60 && seconds(["Upload-Limit": "expires=7"]) == 7)
        #expect(seconds(["Upload-Expires": "Sun, 09 Sep 2001 01:46:50 GMT"]) == 10)
        // The server's clock is an hour behind.
        let date = "Sun, 09 Sep 2001 00:46:40 GMT"
        #expect(seconds(["Date": date, "Upload-Expires": "Sun, 09 Sep 2001 00:46:50 GMT"]) == 10)
        #expect(seconds(["Date": date, "Upload-Limit": "max-age=60"]) == 60)
        #expect(seconds(["Upload-Limit": "max-size=1"]) == nil && seconds(["Upload-Limit": "=?"]) == nil)
        for text in ["", "-1", "1.5", "0x10", "1 2", "1152921504606846977", "١"] {
            #expect(UploadFields.integer(["N": text], "N") == nil, "\(text)")
        }
        #expect(UploadFields.integer(["N": " 70 "], "N") == 70)
        var twice: HTTPHeaders = ["N": "1"]
        twice.add("N", "1")
        #expect(UploadFields.integer(twice, "N") == nil && UploadFields.boolean(twice, "N") == nil)
    }

    @Test(
        "samples are inside the body, in order, and cover all of a short body",
        arguments: [0, 1, 262_144, 262_145, 1 << 40])
    func samples(size: Int64) {
        let samples = SourceFingerprint.samples(of: size)
        #expect(samples.allSatisfy { $0.lowerBound >= 0 && $0.upperBound <= size && !$0.isEmpty })
        #expect(zip(samples, samples.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound })
        let read = samples.reduce(0) { $0 + Int64($1.count) }
        #expect(size <= 262_144 ? read == size : read < 262_144)
        if size > 0 { #expect(samples.first?.lowerBound == 0 && samples.last?.upperBound == size) }
    }
}
