import Errand
import ErrandEssentials
import ErrandTesting
import Testing

@testable import ErrandWebSocket

/// Handshakes and endings that users of other sockets have reported; the reports are in Tests/Lessons.md.
@Suite("Handshakes in daily use", .endsInTime, .leakChecked) struct HandshakeReportTests {
    @Test("a server may choose any window that isn't larger than the offered one, and not keep it, unasked")
    func windows() throws {
        let name = "permessage-deflate"
        func accepted(_ response: String, _ compression: WebSocketCompression = .standard) throws -> DeflateAgreement? {
            try DeflateAgreement.accepted([response], compression)
        }
        #expect(try accepted("\(name); client_max_window_bits=15")?.clientWindow == 15)
        #expect(try accepted("\(name); server_max_window_bits=15")?.serverWindow == 15)
        #expect(try accepted("\(name); server_no_context_takeover")?.serverKeepsWindow == false)
        let small = WebSocketCompression(serverWindowBits: 10, clientWindowBits: 12)
        #expect(try accepted("\(name); server_max_window_bits=8", small)?.serverWindow == 8)
        for wrong in [
            "server_max_window_bits=16", "server_max_window_bits=7", "client_max_window_bits=16",
            "client_max_window_bits", "server_max_window_bits", "client_max_window_bits=",
        ] {
            #expect(throws: DeflateAgreement.Refusal.self, "\(wrong)") { try accepted("\(name); \(wrong)") }
        }
    }

    @Test("an extension that nobody asked for fails the handshake")
    func unaskedExtensions() {
        for (response, compression) in [
            ("permessage-deflate", WebSocketCompression.off), ("x-other", .off), ("x-other", .standard),
        ] {
            #expect(throws: DeflateAgreement.Refusal.self) { try DeflateAgreement.accepted([response], compression) }
        }
    }

    @Test("codes that stand for a missing code are never written, and are a violation on the wire")
    func reservedCodes() throws {
        for number in [1004, 1005, 1006, 1015, 999, 2999, 5000] as [UInt16] {
            let code = CloseCode(rawValue: number)
            var writer = FrameWriter()
            var frame = writer.close(code, "why")
            #expect(TestFrame.take(from: &frame)?.content.isEmpty == true)
            var reader = MessageReader(limit: 1000)
            reader.push(Data([0x88, 0x02, UInt8(number >> 8), UInt8(number & 0xFF)]))
            var error: WebSocketError?
            do { _ = try reader.next() } catch let failure { error = failure }
            #expect(error?.closeCode == .protocolError)
        }
        for number in [1000, 1011, 1012, 1013, 1014, 3000, 4999] as [UInt16] {
            var reader = MessageReader(limit: 1000)
            reader.push(Data([0x88, 0x04, UInt8(number >> 8), UInt8(number & 0xFF), 0xC3, 0xA9]))
            #expect(try reader.next() == .close(CloseCode(rawValue: number), reason: "é"))
        }
        var reader = MessageReader(limit: 1000)
        reader.push(Data([0x88, 0x03, 0x03, 0xE8, 0xE9]))
        var error: WebSocketError?
        do { _ = try reader.next() } catch let failure { error = failure }
        #expect(error?.closeCode == .invalidPayload)
    }

    @Test("bytes after the head of a 101 are the beginning of the socket's first frames")
    func bundledFrames() throws {
        let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
        let frames = Data([0x81, 0x02, 0x68, 0x69, 0x89, 0x00])
        for split in [0, 1, head.utf8.count - 1, head.utf8.count, head.utf8.count + 3] {
            var reader = ResponseReader()
            let bytes = Data(head.utf8) + frames
            reader.push(bytes.prefix(split))
            if try !reader.readHead() {
                reader.push(bytes.dropFirst(split))
                #expect(try reader.readHead())
            } else {
                reader.push(bytes.dropFirst(split))
            }
            #expect(reader.head?.status == 101 && reader.rest == frames)
        }
    }

    @Test("the lines of a response may end without a carriage return", arguments: ["\n", "\r\n"], ["\n", "\r\n"])
    func lineEnds(line: String, last: String) throws {
        let fields = ["HTTP/1.1 101 Web Socket Protocol Handshake", "Upgrade: websocket", "Sec-WebSocket-Accept:a="]
        let bytes = Data((fields.joined(separator: line) + line + last).utf8) + Data([0x89, 0x00])
        for split in 0...bytes.count {
            var reader = ResponseReader()
            reader.push(bytes.prefix(split))
            let isEarly = try reader.readHead()
            #expect(isEarly == (split >= bytes.count - 2))
            reader.push(bytes.dropFirst(split))
            #expect(try reader.readHead())
            #expect(reader.head?.headers["Sec-WebSocket-Accept"] == "a=" && reader.rest == Data([0x89, 0x00]))
        }
    }

    @Test("a request ends with one empty line")
    func requestEnd() throws {
        let url = try #require(URL(string: "http://a.example/chat"))
        let head = String(decoding: UpgradeTransport.head(of: HTTPRequest(.get, url)), as: UTF8.self)
        #expect(head == "GET /chat HTTP/1.1\r\nHost: a.example\r\n\r\n")
    }
}
