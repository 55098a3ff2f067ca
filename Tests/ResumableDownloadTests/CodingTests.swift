import Errand
import ErrandResumableDownload
import ErrandTesting
import Foundation
import Testing

@Suite("Files that a server stores in a content coding", .leakChecked) struct CodingTests {
    private let folder: Folder
    private let film = bytes(600_000)
    private let origin: Origin

    init() throws {
        folder = try Folder()
        origin = try Origin(gzip(film), path: "/*")
        origin.set { $0.twist = { _, _, response in response.header("Content-Encoding", "gzip") } }
    }

    @Test("an object stored as gzip is downloaded and decoded, also in segments", arguments: Wire.allCases, [1, 4])
    func decoded(wire: Wire, segments: Int) async throws {
        let file = folder.file("a.bin")
        let request = Get(file, path: "a.bin").with { $0.checksum = .sha256(sha256(film)) }
        try await agent(origin.server, wire, quick(segments: segments)).send(request)
        #expect(try Data(contentsOf: file) == film && folder.names == ["a.bin"])
        try await agent(origin.server, wire, quick(segments: segments)).send(Get(folder.url, path: "b.bin"))
        #expect(try folder.data("b.bin") == film)
    }

    @Test("a file with the coding's own type is kept as it is", arguments: [1, 4])
    func ownKind(segments: Int) async throws {
        try await agent(origin.server, .system, quick(segments: segments)).send(Get(folder.url, path: "a.tar.gz"))
        #expect(try folder.data("a.tar.gz") == gzip(film))
    }

    @Test("the request for a decoded body is sent without a range and a coding, and a notice reports that")
    func requests() async throws {
        let events = try await events(of: agent(origin.server).download(Get(folder.file("a"), path: "a")))
        #expect(events.notices == [.decoding(coding: "gzip")])
        let sent = origin.server.received
        #expect(sent.count == 2 && sent[0].headers["Accept-Encoding"] == "identity")
        #expect(sent[1].headers["Accept-Encoding"] != "identity" && sent[1].range == nil)
    }

    @Test("an interrupted decoded body starts over, and the bytes are never joined", arguments: Wire.allCases)
    func broken(wire: Wire) async throws {
        origin.set {
            $0.twist = { number, _, response in
                let coded = response.header("Content-Encoding", "gzip")
                return number == 2 || number == 3 ? coded.truncated(to: 300_000) : coded
            }
        }
        try await agent(origin.server, wire).send(Get(folder.file("a"), path: "a"))
        #expect(try folder.data("a") == film && folder.names == ["a"])
        // A later run can't resume a coded response.
        origin.set {
            $0.twist = { _, _, response in response.header("Content-Encoding", "gzip").truncated(to: 300_000) }
        }
        let request = Get(folder.file("b"), path: "b").with { $0.downloadOptions = quick(tries: 1) }
        #expect(await failure { try await agent(origin.server, wire).send(request) } != nil)
        #expect(folder.names == ["a"])
    }

    @Test("a text that a server encodes unasked and without a length arrives complete", arguments: Wire.allCases)
    func withoutLength(wire: Wire) async throws {
        let coded = TestResponse.data(gzip(film), contentType: "text/plain").header("Content-Encoding", "gzip")
            .header("ETag", "\"1\"").chunked()
        origin.set { $0.twist = { number, _, _ in number == 1 ? coded.truncated(to: 300_000) : coded } }
        try await agent(origin.server, wire).send(Get(folder.file("a.txt"), path: "a.txt"))
        #expect(try folder.data("a.txt") == film && folder.names == ["a.txt"])
    }

    @Test("a Repr-Digest of the encoded bytes isn't compared with the decoded bytes, but a checksum is")
    func digests() async throws {
        let coded = "sha-256=:\(Data(sha256(gzip(film))).base64EncodedString()):"
        origin.set {
            $0.twist = { _, _, response in
                response.header("Content-Encoding", "gzip").header("Repr-Digest", coded).header("Content-Digest", coded)
            }
        }
        try await agent(origin.server).send(Get(folder.file("a"), path: "a"))
        #expect(try folder.data("a") == film)
        let wrong = Get(folder.file("b"), path: "b").with { $0.checksum = .sha256(sha256(gzip(film))) }
        let error = await failure { try await agent(origin.server).send(wrong) }
        #expect((error as? TransferError)?.code == .expectedChecksumMismatch && folder.names == ["a"])
    }

    @Test("an unknown coding is an error that names it, and leaves no files")
    func unknown() async throws {
        origin.set { $0.twist = { _, _, response in response.header("Content-Encoding", "x-lzma9") } }
        let error = await failure { try await agent(origin.server).send(Get(folder.file("a"), path: "a")) }
        let known = try #require(error as? TransferError)
        #expect(known.code == .unsupportedContentCoding && known.message.contains("x-lzma9") && folder.names.isEmpty)
    }

    @Test("the size of a decoded file is limited by an option")
    func bomb() async throws {
        var options = quick()
        options.maximumDecodedBytes = 500_000
        let error = await failure {
            try await agent(origin.server, .system, options).send(Get(folder.file("a"), path: "a"))
        }
        #expect((error as? TransferError)?.code == .tooLarge && folder.names.isEmpty)
        #expect("\(error as Any)".contains("maximumDecodedBytes"))
        // This limit doesn't apply to uncoded responses.
        origin.set { _ in }
        origin.set { $0.twist = { _, _, response in response } }
        try await agent(origin.server, .system, options).send(Get(folder.file("b"), path: "b"))
        #expect(try folder.data("b") == gzip(film))
    }
}

struct Events {
    var progress: [TransferStatus] = []
    var notices: [TransferNotice] = []
    var failure: (any Error)?
}

func events(of download: Download) async throws -> Events {
    var events = Events()
    do {
        for try await event in download {
            switch event {
            case .progress(let progress): events.progress.append(progress)
            case .notice(let notice): events.notices.append(notice)
            case .finished: break
            }
        }
    } catch { events.failure = error }
    return events
}

/// Returns a gzip member of stored blocks (RFC 1951, section 3.2.4; RFC 1952).
func gzip(_ data: Data) -> Data {
    var result = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF])
    func little(_ value: UInt32, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> (8 * $0) & 0xFF) } }
    var rest = data[...]
    repeat {
        let block = rest.prefix(65_535)
        rest = rest.dropFirst(block.count)
        result.append(rest.isEmpty ? 1 : 0)
        result += little(UInt32(block.count), 2) + little(~UInt32(block.count), 2)
        result += block
    } while !rest.isEmpty
    var crc = UInt32.max
    for byte in data {
        crc ^= UInt32(byte)
        for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
    }
    return result + little(~crc, 4) + little(UInt32(data.count), 4)
}
