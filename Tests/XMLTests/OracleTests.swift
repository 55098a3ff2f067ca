#if os(Linux) || os(macOS)
import Errand
import ErrandEssentials
import ErrandTestPrograms
import ErrandXML
import Foundation
import Testing

/// The first Python in PATH, because lxml may be installed only for it.
private let python: Program? = {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return folders.compactMap { Program("\($0)/python3") }.first
}()

/// Parses the same documents with Python's expat, and with lxml if it is installed.
@Suite(
    "XML, compared with other parsers", .enabled(if: python != nil, "python3 is not installed"),
    .endsInTime)
struct OracleTests {
    private static let script = """
        import struct, sys
        from xml.parsers import expat
        try:
            from lxml import etree
        except ImportError:
            etree = None
        def by_expat(document):
            parser = expat.ParserCreate()
            try:
                parser.Parse(document, True)
                return "y"
            except Exception:
                return "n"
        def by_lxml(document):
            if etree is None: return "-"
            parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True)
            try:
                etree.fromstring(document, parser)
                return "y"
            except Exception as error:
                # It wants the names of namespaces to be URIs, which the grammar does not.
                return "-" if "is not a valid URI" in str(error) else "n"
        data = open(sys.argv[1], "rb").read()
        place = 0
        while place < len(data):
            count = struct.unpack_from("<I", data, place)[0]
            document = data[place + 4:place + 4 + count]
            place += 4 + count
            print(by_expat(document) + by_lxml(document))
        """

    @Test("20,000 mutated documents are accepted or refused like in expat and lxml")
    func verdicts() async throws {
        let python = try #require(python)
        let folder = TemporaryDirectory()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        var mutations = Mutations(seed: 26)
        let documents = (0..<20_000).map { _ in mutations.next() }
        var data = Data()
        for document in documents {
            withUnsafeBytes(of: UInt32(document.count).littleEndian) { data.append(contentsOf: $0) }
            data.append(contentsOf: document)
        }
        let file = folder.url.appending(path: "documents")
        try data.write(to: file)
        let output = try await python.run(["-c", Self.script, file.path], limit: .seconds(500))
        let verdicts = output.text.split(separator: "\n")
        try #require(verdicts.count == documents.count, "\(output.complaint)")
        var (read, differing) = (0, [String]())
        for (document, verdict) in zip(documents, verdicts) {
            let error = failure(of: Data(document))
            if error == nil { read += 1 }
            // Documents refused by choice, or invalid only because of namespaces, don't test the grammar.
            if error?.code == .refusedDocumentType || error?.code == .invalidNamespace { continue }
            let mine: Character = error == nil ? "y" : "n"
            // expat implements an older edition's names and accepts any version.
            let isForExpat =
                document.allSatisfy { $0 < 0x80 } && error?.message != "the XML declaration is not well-formed"
            if verdict.last != "-" && verdict.last != mine || isForExpat && verdict.first != mine {
                let text = String(decoding: document, as: UTF8.self).debugDescription
                differing.append("\(verdict) \(error.map { "\($0)" } ?? "read") \(text)")
            }
        }
        #expect(differing.isEmpty, "\(differing.count): \(differing.prefix(20).joined(separator: "\n"))")
        #expect(read > 1_000 && read < 19_000)
    }
}
#endif
