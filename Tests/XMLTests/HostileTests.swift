import Errand
import ErrandEssentials
import ErrandSystemTransport
import ErrandTesting
import ErrandXML
import Synchronization
import Testing

@Suite("Hostile XML", .leakChecked) struct HostileTests {
    static let laughs: String = {
        var text = "<?xml version=\"1.0\"?>\n<!DOCTYPE lolz [\n<!ENTITY lol \"lol\">\n"
        for (name, of) in zip("bcdefghijk", ["lol"] + "bcdefghij".map(String.init)) {
            text += "<!ENTITY \(name) \"" + String(repeating: "&\(of);", count: 10) + "\">\n"
        }
        return text + "]>\n<lolz>&k;</lolz>"
    }()

    static let declarations = [
        laughs,
        "<!DOCTYPE a [<!ENTITY b \"\(String(repeating: "x", count: 50_000))\">]><a>\(String(repeating: "&b;", count: 50_000))</a>",
        "<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>",
        "<!DOCTYPE a [<!ENTITY % p SYSTEM 'http://127.0.0.1/p.dtd'> %p;]><a>&b;</a>",
        "<!DOCTYPE a SYSTEM 'http://127.0.0.1/a.dtd'><a>&b;</a>",
        "<!DOCTYPE a PUBLIC '-//A//B' 'http://127.0.0.1/a.dtd'><a/>",
        "<!DOCTYPE a SYSTEM 'x' [<!ATTLIST a b CDATA 'c'>]><a/>",
        "<!-- c --><?p i?>\n<!DOCTYPE\n\ta\n[]\n><a/>",
    ]

    @Test(
        "a document type with entities, an external entity or an address is refused in every charset, before parsing",
        arguments: declarations)
    func refusal(_ text: String) async throws {
        let plain = text.hasPrefix("<?xml") ? text : "<?xml version='1.0'?>" + text
        let latin = plain.replacing(/^<\?xml version=.1\.0./, with: "<?xml version='1.0' encoding='ISO-8859-1'")
        let forms: [(Data, String?)] = [
            (Data(text.utf8), nil), ([0xEF, 0xBB, 0xBF] + Data(plain.utf8), nil), (Data(latin.utf8), nil),
            (Data(latin.utf8), "utf-8"), (Data(text.utf8), "windows-1252"),
            (utf16(text, isBigEndian: true, mark: true), nil), (utf16(text, isBigEndian: false, mark: true), "utf-8"),
            (utf16(plain, isBigEndian: true, mark: false), nil),
            (utf16(text, isBigEndian: false, mark: false), "utf-16"),
        ]
        for (data, charset) in forms {
            #expect(failure(of: data, charset: charset)?.code == .refusedDocumentType)
            #expect(try await streamFailure(of: data, charset: charset)?.code == .refusedDocumentType)
        }
    }

    @Test("negative limits count as zero", arguments: [-1, Int.min])
    func negativeLimits(limit: Int) async throws {
        var limits = XMLLimits.standard
        limits.maximumBytes = limit
        let data = Data("<a>x</a>".utf8)
        for charset in [nil, "latin1", "Shift_JIS", "utf-16"] {
            #expect(failure(of: data, charset: charset, limits: limits)?.code == .tooLarge)
            #expect(try await streamFailure(of: data, charset: charset, limits: limits)?.code == .tooLarge)
        }
        #expect(failure(of: data, limits: limits)?.message == "the document is longer than 0 bytes")
        #expect(failure(of: Data(), limits: limits)?.code == .truncated)
    }

    @Test("markup in tiny chunks isn't counted again with each chunk")
    func tinyChunks() async throws {
        // Counting from the start with each chunk would take hours.
        let (count, chunk) = (100_000, Data("x\n\u{E9}xxxxxxxxxxxxxxxxxxxxxxxxxxxx".utf8))
        let left = Mutex(count + 2)
        let body = HTTPBody {
            left.withLock { left in
                left -= 1
                return left == count + 1
                    ? Data("<a><!--".utf8) : left > 0 ? chunk : left == 0 ? Data("--></b>".utf8) : nil
            }
        }
        var limits = XMLLimits.streaming
        limits.maximumMarkupBytes = .max
        let error = await #expect(throws: XMLError.self) {
            for try await _ in XMLEvents(body, limits: limits) {}
        }
        #expect(error?.code == .malformed && error?.line == count + 1 && error?.column == 37)
    }

    @Test("a stream in a charset that is read as a whole is limited like a tree")
    func endlessWhole() async throws {
        let pulled = Counter()
        let body = HTTPBody {
            pulled.increment()
            return Data(repeating: 0x3C, count: 4 << 20)
        }
        let error = await #expect(throws: XMLError.self) {
            for try await _ in XMLEvents(body, charset: "Shift_JIS") {}
        }
        #expect(error?.code == .tooLarge && pulled.value <= 17)
    }

    @Test(
        "a processing instruction without data is skipped everywhere, and doesn't hide a document type",
        arguments: [
            "<a><?x?></a>", "<?x?><a/>", "<?x?>\n<a/>", "<a/><?x?>", "<?x ?><a/>", "<?x   y?><a><?x??></a>",
            "<?xm?><a/>", "<a><?x?><?y?>z<?x?></a>", "<?xml version='1.0'?><?x?><a/>",
        ])
    func instructions(_ text: String) async throws {
        let isWellFormed = !text.contains("??")
        #expect((failure(of: text) == nil) == isWellFormed)
        for data in [[Data(text.utf8)], text.utf8.map { Data([$0]) }] {
            let events = XMLEvents(HTTPBody(chunks: data))
            guard isWellFormed else {
                await #expect(throws: XMLError.self) { try await events.all() }
                continue
            }
            #expect(try await events.all().filter { if case .text = $0 { false } else { true } }.count == 2)
        }
        for type in ["<!DOCTYPE a [<!ENTITY b 'c'>]>", "<!DOCTYPE a SYSTEM 'x'>"] where text.hasPrefix("<?x?>") {
            let hidden = "<?x?>" + type + text.dropFirst(5)
            #expect(failure(of: hidden)?.code == .refusedDocumentType)
            #expect(try await streamFailure(of: Data(hidden.utf8))?.code == .refusedDocumentType)
        }
    }

    @Test("an external document type is skipped if allowed, and never loaded")
    func skipping() async throws {
        let server = try TestServer()
        server.on(.get, "/a.dtd", .text("<!ENTITY b 'loaded'>"))
        var limits = XMLLimits.standard
        limits.skipsDocumentType = true
        let type = "<!DOCTYPE a PUBLIC \"-//A//B\" '\(server.url)/a.dtd'>"
        #expect(try XMLTree(type + "<a>x</a>", limits: limits).text == "x")
        #expect(failure(of: type + "<a>&b;</a>", limits: limits)?.code == .malformed)
        #expect(failure(of: "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", limits: limits)?.code == .refusedDocumentType)
        #expect(failure(of: type + "<a/>")?.code == .refusedDocumentType)
        #expect(server.received.isEmpty)
    }

    @Test("100,000 levels are rejected at any limit, as a tree and as a stream")
    func depth() async throws {
        let text = String(repeating: "<a>", count: 100_000) + String(repeating: "</a>", count: 100_000)
        let error = failure(of: text)
        #expect(error?.code == .tooDeep && error?.line == 1 && error?.column == 257 * 3)
        #expect(try await streamFailure(of: Data(text.utf8))?.code == .tooDeep)
        #expect(failure(of: String(repeating: "<a>", count: 100_000))?.code == .tooDeep)
        var limits = XMLLimits.standard
        limits.maximumDepth = .max
        #expect(failure(of: text, limits: limits)?.code == .tooDeep)
        let allowed = String(repeating: "<a>", count: 1_000) + String(repeating: "</a>", count: 1_000)
        #expect(failure(of: allowed, limits: limits) == nil)
        limits.maximumDepth = -1
        #expect(failure(of: "<a/>", limits: limits)?.code == .tooDeep)
    }

    @Test("the sizes of documents, tags, comments, attributes and trees are limited")
    func sizes() async throws {
        var limits = XMLLimits.standard
        (limits.maximumBytes, limits.maximumMarkupBytes, limits.maximumNodes, limits.maximumAttributes) = (
            40_000, 5_000, 100, 10
        )
        let many = (0..<11).map { " a\($0)=''" }.joined()
        for text in [
            "<a>" + String(repeating: "x", count: 40_000) + "</a>",
            "<a>" + String(repeating: "<b/>", count: 100) + "</a>",
            "<a b='" + String(repeating: "x", count: 5_000) + "'/>", "<" + String(repeating: "x", count: 5_000) + "/>",
            "<!--" + String(repeating: "x", count: 5_000) + "--><a/>",
            "<?p " + String(repeating: "x", count: 5_000) + "?><a/>",
            "<a\(many)/>", "<a" + String(repeating: " ", count: 5_000) + "/>",
            "<!DOCTYPE " + String(repeating: "x", count: 5_000),
        ] { #expect(failure(of: text, limits: limits)?.code == .tooLarge, "\(text.prefix(20))") }
        #expect(failure(of: "<a" + many.prefix(60) + "/>", limits: limits) == nil)
        #expect(
            failure(
                of: utf16("<a>" + String(repeating: "x", count: 40_000), isBigEndian: true, mark: true), limits: limits)?
                .code == .tooLarge)
        #expect(
            failure(of: Data(String(repeating: "x", count: 40_001).utf8), charset: "shift_jis", limits: limits)?.code
                == .tooLarge)
        let stream = "<a>" + String(repeating: "<b/>", count: 101) + "</a>"
        #expect(try await streamFailure(of: Data(stream.utf8), limits: limits) == nil)
        #expect(
            try await streamFailure(of: Data(("<a>" + String(repeating: "x", count: 40_000)).utf8), limits: limits)?
                .code == .tooLarge)
    }

    @Test("a document truncated at any byte is an error, in every charset, as a tree and as a stream")
    func cuts() async throws {
        let latin = "<?xml version='1.0' encoding='ISO-8859-1'?><a>\u{E9}</a>"
        let documents = [
            Data(atom.utf8), utf16(atom, isBigEndian: false, mark: true),
            Data(latin.unicodeScalars.map { UInt8($0.value) }),
            Data("<?xml version='1.0' encoding='Shift_JIS'?><a>x</a>".utf8), Data("<!DOCTYPE a><a/>".utf8),
            Data("<a/>".utf8),
        ]
        for document in documents {
            #expect(failure(of: document) == nil)
            for length in 0..<document.count {
                let part = Data(document.prefix(length))
                let (tree, stream) = (failure(of: part), try await streamFailure(of: part))
                #expect(tree?.code == .truncated && tree == stream, "\(length) of \(document.count): \(tree as Any)")
            }
        }
    }

    @Test("random bytes are read or refused in the same way as a tree and as a stream")
    func noise() async throws {
        var generator = SeededGenerator(seed: 7)
        let document = Array(atom.utf8)
        let bytes = Array("<>&;!?[]-'\"= /xmlDOCTYPE\u{0}\u{E9}".utf8)
        for _ in 0..<150 {
            var copy = document
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let place = Int.random(in: 0..<copy.count, using: &generator)
                copy[place] = bytes.randomElement(using: &generator) ?? 0
            }
            let data = Data(copy)
            #expect(failure(of: data) == (try await streamFailure(of: data)))
        }
    }
}
