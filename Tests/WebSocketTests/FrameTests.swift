import Errand
import ErrandEssentials
import ErrandTesting
import Testing

@testable import ErrandWebSocket

/// RFC 6455, section 5, and RFC 7692: bytes to messages and back, without a connection.
@Suite("Frames of a WebSocket") struct FrameTests {
    /// Returns the events from bytes that arrive in pieces.
    private static func events(
        _ bytes: Data, pieces: Int = .max, limit: Int = 1 << 20, _ agreement: DeflateAgreement? = nil
    ) throws -> [MessageReader.Event] {
        var reader = MessageReader(limit: limit, agreement)
        var events: [MessageReader.Event] = []
        var rest = bytes[...]
        repeat {
            let piece = rest.prefix(pieces)
            rest = rest.dropFirst(piece.count)
            reader.push(piece)
            while let event = try reader.next() { events.append(event) }
        } while !rest.isEmpty
        return events
    }

    private static func bytes(_ frames: TestFrame...) -> Data { frames.reduce(Data()) { $0 + $1.wireBytes() } }

    private static let conversation = bytes(
        .text("hello"), TestFrame(opcode: 1, Data("Grü".utf8), isFinal: false), .ping("1"),
        TestFrame(opcode: 0, Data("ße €".utf8), isFinal: false), TestFrame(opcode: 0, Data("𝄞".utf8)), .pong(),
        .data(Data(repeating: 7, count: 70_000)), .data(Data(count: 300)), .text(""), .close(1001, "bye"))

    @Test("frames at any split form the same messages, even with control frames between fragments")
    func splits() throws {
        let expected: [MessageReader.Event] = [
            .message(.text("hello")), .ping(Data("1".utf8)), .message(.text("Grüße €𝄞")), .pong(Data()),
            .message(.data(Data(repeating: 7, count: 70_000))), .message(.data(Data(count: 300))), .message(.text("")),
            .close(.goingAway, reason: "bye"),
        ]
        for pieces in [1, 2, 3, 7, 125, 4096, .max] {
            #expect(try Self.events(Self.conversation, pieces: pieces) == expected)
        }
    }

    @Test(
        "invalid frames are refused by their first bytes",
        arguments: [
            [0x83, 0x00], [0x8B, 0x00], [0xC1, 0x00], [0xA1, 0x00], [0x91, 0x00], [0x81, 0x80], [0x80, 0x00],
            [0x09, 0x00], [0x89, 0x7E], [0x88, 0x01, 0x03], [0x88, 0x02, 0x03, 0xED], [0x88, 0x02, 0x03, 0xE7],
            [0x88, 0x02, 0x07, 0xD0], [0x82, 0x7E, 0x00, 0x7D], [0x82, 0x7F, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF],
            [0x82, 0x7F, 0x80, 0, 0, 0, 0, 0, 0, 0], [0x01, 0x01, 0x41, 0x81, 0x00],
        ] as [[UInt8]])
    func violations(bytes: [UInt8]) throws {
        for pieces in [1, .max] {
            let error = #expect(throws: WebSocketError.self) { try Self.events(Data(bytes), pieces: pieces) }
            #expect(error?.code == .protocolViolated && error?.closeCode == .protocolError)
        }
    }

    @Test("text that isn't UTF-8 is refused at the first invalid byte")
    func textFailsFast() throws {
        let wrong: [[UInt8]] = [
            [0xC0], [0x80], [0xE0, 0x80], [0xED, 0xA0], [0xF0, 0x80], [0xF4, 0x90], [0xF5], [0xC3, 0x41],
            Array(repeating: 0x41, count: 17) + [0xFF],
        ]
        for text in wrong {
            // The start of a frame with a hundred more bytes to come.
            let frame = Data([0x81, UInt8(text.count + 100)] + text)
            let error = #expect(throws: WebSocketError.self) { try Self.events(frame, pieces: 1) }
            #expect(error?.code == .invalidText && error?.closeCode == .invalidPayload)
        }
        #expect(throws: WebSocketError.self) { try Self.events(Data([0x81, 0x01, 0xE2])) }
        #expect(throws: WebSocketError.self) { try Self.events(Data([0x88, 0x03, 0x03, 0xE8, 0xFF])) }
    }

    @Test("the UTF-8 check agrees with the standard library on random bytes")
    func utf8() {
        var random = SeededGenerator(seed: 6455)
        let characters = ["a", "é", "€", "𝄞", "日本"].map { Array($0.utf8) }
        let parts: [[UInt8]] = characters + [[0xE2], [0x80], [0xF0, 0x9F], [0xC1]]
        for _ in 0..<3_000 {
            let bytes = (0..<Int.random(in: 0...6, using: &random)).flatMap { _ in
                parts[Int.random(in: 0..<parts.count, using: &random)]
            }
            var check = UTF8Check()
            let accepted = bytes.allSatisfy { byte in check.accept(CollectionOfOne(byte).span) }
            #expect((accepted && check.isComplete) == (String(validating: bytes, as: UTF8.self) != nil), "\(bytes)")
        }
    }

    @Test("a message longer than the limit is refused by the head of its frame")
    func limits() throws {
        #expect(try Self.events(Self.bytes(.data(Data(count: 1000))), limit: 1000).count == 1)
        let heads = [
            Self.bytes(.data(Data(count: 1001))).prefix(4),
            Self.bytes(TestFrame(opcode: 2, Data(count: 600), isFinal: false))
                + Self.bytes(TestFrame(opcode: 0, Data(count: 401))).prefix(4),
        ]
        for head in heads {
            let error = #expect(throws: WebSocketError.self) { try Self.events(head, limit: 1000) }
            #expect(error?.code == .tooLarge && error?.closeCode == .messageTooBig)
        }
    }

    @Test("the client masks frames with different keys, without changing their contents")
    func writing() throws {
        var writer = FrameWriter()
        var keys: Set<[UInt8]> = []
        for count in [0, 1, 7, 8, 125, 126, 0xFFFF, 0x1_0000] {
            let content = Data((0..<count).map { UInt8(truncatingIfNeeded: $0) })
            var bytes = try writer.frame(.data(content))
            let frame = try #require(TestFrame.take(from: &bytes))
            #expect(frame.opcode == 2 && frame.isFinal && frame.content == content && bytes.isEmpty)
            keys.insert(try #require(frame.mask))
        }
        #expect(keys.count == 8)
        var close = writer.close(.normalClosure, String(repeating: "é", count: 100))
        let frame = try #require(TestFrame.take(from: &close))
        #expect(frame.closeCode == 1000 && frame.content.count == 124)
        #expect(String(validating: frame.content.dropFirst(2), as: UTF8.self) != nil)
        var bare = writer.close(.noStatusReceived)
        #expect(TestFrame.take(from: &bare)?.content.isEmpty == true)
    }

    // MARK: Compression

    private static let agreements = [8, 9, 12, 15].flatMap { bits in
        [true, false].map {
            DeflateAgreement(clientWindow: bits, serverWindow: bits, clientKeepsWindow: $0, serverKeepsWindow: $0)
        }
    }

    @Test("deflated messages are inflated unchanged, with every window, kept or not", arguments: agreements)
    func deflating(agreement: DeflateAgreement) throws {
        let texts = ["hello", "hello hello hello", "", String(repeating: "abcdefghij", count: 3_000), "hello"]
        var writer = FrameWriter(agreement)
        var bytes = Data()
        for text in texts {
            var frame = try writer.frame(.text(text))
            var taken = try #require(TestFrame.take(from: &frame))
            #expect(taken.reserved == 4)
            taken.mask = nil
            bytes += taken.wireBytes()
        }
        for pieces in [1, 1000, .max] {
            #expect(try Self.events(bytes, pieces: pieces, agreement) == texts.map { .message(.text($0)) })
        }
    }

    @Test(
        "each direction keeps or drops its window as the handshake says for that direction",
        arguments: [true, false], [true, false])
    func directions(clientKeeps: Bool, serverKeeps: Bool) throws {
        let agreement = DeflateAgreement(
            clientWindow: 15, serverWindow: 15, clientKeepsWindow: clientKeeps, serverKeepsWindow: serverKeeps)
        // "Hello", and "Hello" as a reference to the previous message (RFC 7692, section 7.2.3.2).
        let whole = TestFrame(opcode: 1, Data([0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]), reserved: 4)
        let reference = TestFrame(opcode: 1, Data([0xF2, 0x00, 0x11, 0x00, 0x00]), reserved: 4)
        let hello = MessageReader.Event.message(.text("Hello"))
        #expect(try Self.events(Self.bytes(whole, whole), pieces: .max, agreement) == [hello, hello])
        if serverKeeps {
            #expect(try Self.events(Self.bytes(whole, reference), pieces: .max, agreement) == [hello, hello])
        } else {
            #expect(throws: WebSocketError.self) {
                try Self.events(Self.bytes(whole, reference), pieces: .max, agreement)
            }
        }
        var writer = FrameWriter(agreement)
        let sizes = try (0..<2).map { _ in
            var frame = try writer.frame(.text("a text that no other text resembles"))
            return try #require(TestFrame.take(from: &frame)).content.count
        }
        #expect(clientKeeps ? sizes[1] < sizes[0] : sizes[1] == sizes[0])
    }

    @Test("a fragmented deflated message, with only the first fragment marked, is one message")
    func deflatedFragments() throws {
        let agreement = DeflateAgreement(clientWindow: 15, clientKeepsWindow: true)
        // RFC 7692, section 7.2.3.1, and with a final block, section 7.2.3.4.
        let first = TestFrame(opcode: 1, Data([0xF2, 0x48, 0xCD]), isFinal: false, reserved: 4)
        let second = TestFrame(opcode: 0, Data([0xC9, 0xC9, 0x07, 0x00]))
        let final = TestFrame(opcode: 1, Data([0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00]), reserved: 4)
        let events = try Self.events(Self.bytes(first, second, final), pieces: 1, agreement)
        #expect(events == [.message(.text("Hello")), .message(.text("Hello"))])
    }

    @Test("a message can end with an empty final block, and the next message can refer to its content")
    func finalBlocks() throws {
        let agreement = DeflateAgreement(clientWindow: 15, clientKeepsWindow: true)
        let bare = TestFrame(opcode: 1, Data([0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]), reserved: 4)
        let padded = TestFrame(opcode: 1, Data([0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00]), reserved: 4)
        // "Hello" as a reference to the previous message, RFC 7692, section 7.2.3.2.
        let reference = TestFrame(opcode: 1, Data([0xF2, 0x00, 0x11, 0x00, 0x00]), reserved: 4)
        let frames = [bare, bare, reference, padded, reference, bare, reference, reference]
        let bytes = frames.reduce(Data()) { $0 + $1.wireBytes() }
        for pieces in [1, 3, .max] {
            let events = try Self.events(bytes, pieces: pieces, agreement)
            #expect(events == frames.map { _ in .message(.text("Hello")) })
        }
    }

    @Test("a message of the maximum length is accepted, even if deflating made it longer")
    func deflatedLimit() throws {
        let agreement = DeflateAgreement(clientWindow: 15, clientKeepsWindow: true)
        var random = SeededGenerator(seed: 7692)
        let content = Data((0..<1000).map { _ in UInt8(random.below(256)) })
        var deflater = MessageDeflater(15, keepsWindow: true)
        let made = deflater.deflate(content.span)
        let deflated = try #require(made)
        #expect(deflated.count > content.count)
        let frame = TestFrame(opcode: 2, deflated, reserved: 4).wireBytes()
        #expect(try Self.events(frame, limit: 1000, agreement) == [.message(.data(content))])
        #expect(throws: WebSocketError.self) { try Self.events(frame, limit: 999, agreement) }
    }

    @Test("a message that inflates beyond the limit is refused, however small it is")
    func bombs() throws {
        let agreement = DeflateAgreement(clientWindow: 15, clientKeepsWindow: true)
        var deflater = MessageDeflater(15, keepsWindow: true)
        let zeros = Data(count: 8 << 20)
        let made = deflater.deflate(zeros.span)
        let bomb = try #require(made)
        #expect(bomb.count < 20_000)
        let frame = TestFrame(opcode: 2, bomb, reserved: 4).wireBytes()
        let error = #expect(throws: WebSocketError.self) { try Self.events(frame, limit: 1 << 20, agreement) }
        #expect(error?.code == .tooLarge)
        let corrupt = TestFrame(opcode: 2, Data([0x07, 0xFF, 0xFF]), reserved: 4).wireBytes()
        #expect(throws: WebSocketError.self) { try Self.events(corrupt, agreement) }
    }

    static let fuzzRounds = ProcessInfo.processInfo.environment["ERRAND_FUZZ_ROUNDS"].flatMap { Int($0) } ?? 3_000

    @Test("mutated frames give messages or a typed error, within the limit")
    func mutations() throws {
        let rounds = Self.fuzzRounds
        var random = SeededGenerator(seed: 20_261_123)
        let agreement = DeflateAgreement(clientWindow: 15, clientKeepsWindow: true)
        let seeds = [
            Self.bytes(.text("hello"), .ping("x"), .close()),
            Self.bytes(TestFrame(opcode: 1, Data("Grü".utf8), isFinal: false), TestFrame(opcode: 0, Data("ße".utf8))),
            Self.bytes(
                TestFrame(opcode: 1, Data([0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]), reserved: 4),
                .data(Data(count: 200))),
        ]
        var (refused, accepted) = (0, 0)
        for _ in 0..<rounds {
            var bytes = seeds[Int.random(in: 0..<seeds.count, using: &random)]
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
                default: bytes = Data(bytes.prefix(place + 1))
                }
            }
            do {
                let pieces = Int.random(in: 1...9, using: &random)
                for case .message(let message) in try Self.events(bytes, pieces: pieces, limit: 1000, agreement) {
                    #expect(message.bytes.count <= 1000)
                }
                accepted += 1
            } catch is WebSocketError { refused += 1 }
        }
        #expect(refused > rounds / 10 && accepted > rounds / 10)
    }
}
