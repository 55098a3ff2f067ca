import ErrandJSONSchema
import ErrandJSONValidation
import Foundation
import Testing

@Suite("JSON Schema: rules of formats", .endsInTime, .leakChecked)
struct FormatRuleTests {
    private func fits(_ format: String, _ text: String) throws -> Bool {
        let schema = try JSONSchema(Data("{\"format\":\"\(format)\"}".utf8), formats: .assertion)
        let value = try JSONEncoder().encode([text]).dropFirst().dropLast()
        do { try schema.validate(Data(value)) } catch {
            #expect(error.verdict == .doesNotFit)
            return false
        }
        return true
    }

    @Test(
        "the rule for right-to-left names applies to every label of a name (RFC 5893, section 2)",
        arguments: [
            ("0a.\u{5D0}", false), ("a0.\u{5D0}", true), ("0a.example", true), ("\u{5D0}.0a", false),
            ("a.\u{5D0}\u{5D1}", true),
            ("\u{5D0}a", false), ("a\u{5D0}", false), ("\u{5D0}1", true), ("\u{628}1\u{661}", false),
            ("\u{628}\u{661}", true),
            ("\u{6F1}.com", true), ("\u{5D0}.\u{6F1}", false), ("\u{661}.com", false), ("\u{5D0}\u{5B0}", true),
            ("q\u{300}.\u{5D0}", true), ("0a.xn--4db", false), ("a0.xn--4db", true), ("3\u{3002}\u{5D0}", false),
            ("\u{5D0}.\u{4F8B}1", true), ("-.\u{5D0}", false), ("\u{E9}1.2\u{E9}", true), ("\u{5D0}.2\u{E9}", false),
        ])
    func directions(name: String, isName: Bool) throws {
        #expect(try fits("idn-hostname", name) == isName, "\(name)")
        #expect(try fits("idn-email", "a@\(name)") == isName, "\(name)")
        if name.utf8.allSatisfy({ $0 < 0x80 }) { #expect(try fits("hostname", name) == isName, "\(name)") }
    }

    @Test(
        "a name in Unicode is composed, as in NFC (RFC 5891, section 4.1)",
        arguments: [
            ("m\u{FC}nchen.de", true), ("mu\u{308}nchen.de", false), ("q\u{308}.de", true), ("a\u{304}\u{300}", false),
            ("q\u{316}\u{300}", true), ("q\u{300}\u{316}", false), ("a\u{316}\u{300}", false),
            ("q\u{300}\u{308}", true),
            ("\u{304C}", true), ("\u{304B}\u{3099}", false), ("\u{915}\u{93C}", true), ("\u{928}\u{93C}", false),
            ("\u{9C7}\u{9BE}", false), ("\u{995}\u{9BE}", true), ("\u{438}\u{306}", false), ("\u{439}", true),
            ("\u{3B1}\u{301}", false), ("\u{3AC}", true), ("e\u{323}\u{302}", false), ("\u{1EC7}", true),
        ])
    func composed(name: String, isName: Bool) throws {
        #expect(try fits("idn-hostname", name) == isName, "\(name)")
        #expect(try fits("idn-email", "user@\(name)") == isName, "\(name)")
    }

    @Test(
        "a label in Punycode counts as its characters, in any case, and has only one spelling (RFC 5891, section 5.3)",
        arguments: [
            ("xn--bcher-kva.example", true), ("XN--BCHER-KVA.example", true), ("xn--NXASMQ6B", true), ("xn--7a", false),
            ("xn--0ca24w", false), ("xn--example-", false), ("xn---9uc", false), ("xn--bcher-kvaa", true),
            ("xn--", false), ("xn--mnchen-3ya.de", true), ("xn--munchen-gie.de", false), ("ab--cd", false),
            ("a..b", false), (String(repeating: "a", count: 63) + ".de", true),
            (String(repeating: "a", count: 64) + ".de", false),
            (Array(repeating: String(repeating: "a", count: 63), count: 4).joined(separator: "."), false),
        ])
    func punycode(name: String, isName: Bool) throws {
        for format in ["hostname", "idn-hostname"] { #expect(try fits(format, name) == isName, "\(format) \(name)") }
        #expect(try fits("idn-email", "a@\(name)") == isName, "\(name)")
    }

    @Test(
        "each occurrence of a joiner and of a character with a rule is checked (RFC 5892, appendix A)",
        arguments: [
            ("\u{915}\u{94D}\u{200C}\u{937}", true), ("\u{915}\u{94D}\u{200C}\u{937}a\u{200C}b", false),
            ("\u{915}\u{94D}\u{200D}\u{937}", true), ("\u{915}\u{200D}\u{937}", false), ("l\u{B7}l", true),
            ("l\u{B7}a", false),
            ("\u{375}\u{3B2}", true), ("\u{375}a", false), ("\u{30FB}\u{30A2}", true), ("a\u{30FB}b", false),
            ("\u{628}\u{660}\u{6F0}", false), ("\u{628}\u{660}", true), ("\u{A1}", false), ("\u{1D100}", false),
        ])
    func contexts(name: String, isName: Bool) throws {
        #expect(try fits("idn-hostname", name) == isName, "\(name)")
    }

    @Test(
        "an IRI has the parts of RFC 3987",
        arguments: [
            ("http://[v1.fe80::a+en1]:80/", true), ("http://[v.x]/", false), ("http://[vG.x]/", false),
            ("http://[::1.2.3.4]/", true), ("http://[::01.2.3.4]/", false), ("http://999.1.1.1/", true),
            ("http://us\u{E9}r:p\u{FC}@\u{4F8B}.jp/\u{FC}?\u{FC}#\u{FC}", true), ("http://e.com/?\u{E000}", true),
            ("http://e.com/\u{E000}", false), ("http://e.com/#\u{E000}", false), ("http://e.com/\u{FFFE}", false),
            ("http://e.com/%zz", false), ("http://e.com/a b", false), ("http://e.com:8a/", false), ("//e.com", false),
            ("urn:\u{E9}", true), ("1http://e.com", false), ("http://e.com/\u{1FFFE}", false), ("http://[::1", false),
        ])
    func internationalURIs(text: String, isIRI: Bool) throws {
        #expect(try fits("iri", text) == isIRI, "\(text)")
        if text.utf8.allSatisfy({ $0 < 0x80 }) { #expect(try fits("uri", text) == isIRI, "\(text)") }
        #expect(try fits("iri-reference", text) == (isIRI || text == "//e.com"), "\(text)")
    }

    @Test(
        "the domain and the local part of an international address follow the rules of names and of RFC 5321",
        arguments: [
            ("user@-example.com", false), ("user@ex_ample.com", false), ("user..name@example.com", false),
            (".user@example.com", false), ("\u{3B4}\u{3BF}\u{3BA}@[192.0.2.1]", true), ("user@[192.0.2.300]", false),
            ("\u{3B4}\u{3BF}\u{3BA}@[IPv6:2001:db8::1]", true), ("user@[01.0.0.1]", true),
            ("user@[001.002.003.255]", true),
            ("user@[0001.2.3.4]", false), ("user@[1.2.3]", false), ("user@[IPv6:::01.2.3.4]", false), ("user@", false),
        ])
    func addresses(address: String, isAddress: Bool) throws {
        #expect(try fits("idn-email", address) == isAddress, "\(address)")
        if address.utf8.allSatisfy({ $0 < 0x80 }) { #expect(try fits("email", address) == isAddress, "\(address)") }
        #expect(try !fits("ipv4", "01.0.0.1"))
    }

    @Test(
        "literals of a template follow RFC 6570 with erratum 6937",
        arguments: [
            ("it's/{id}", true), ("'", true), ("{'}", false), ("a\"b", false), ("a b", false), ("<a>", false),
            ("a\\b", false),
            ("\u{E9}/{x}", true), ("a\u{85}", false), ("a\u{FFFE}", false), ("\u{E000}", true), ("%41{+a,b*}", true),
        ])
    func templates(text: String, isTemplate: Bool) throws {
        #expect(try fits("uri-template", text) == isTemplate, "\(text)")
    }

    @Test(
        "a regular expression must be valid in ECMA-262 with the flag u, even if it isn't supported",
        arguments: [
            ("[[]", true), (#"\ud800"#, true), (#"(?<\u0061>x)"#, true), (#"\p{Extended_Pictographic}"#, true),
            (#"(a)\1"#, true), (#"(?<n>a)\k<n>"#, true), ("a{100000}", true), (#"\p{Script=Greek}"#, true),
            ("(?P<n>a)", false), (#"\-"#, false), (#"\_"#, false), (#"\%"#, false), (#"\a"#, false), (#"(a)\2"#, false),
            (#"(a)\1("#, false), (#"\k<n>"#, false), ("a{2,1}", false), ("^*", false), (#"\p{Script=None}"#, false),
            (String(repeating: "a", count: 20_000), true), (String(repeating: "a", count: 20_000) + "(", false),
        ])
    func patterns(text: String, isPattern: Bool) throws {
        #expect(try fits("regex", text) == isPattern, "\(text.prefix(60))")
    }

    @Test("a regular expression that is nested too deeply is left undecided")
    func deepPatterns() throws {
        let schema = try JSONSchema(Data(#"{"format":"regex"}"#.utf8), formats: .assertion)
        let text = String(repeating: "(", count: 200) + String(repeating: ")", count: 200)
        let error = #expect(throws: JSONValidationError.self) { try schema.validate(Data("\"\(text)\"".utf8)) }
        #expect(error?.verdict == .notJudged && error?.problems.first?.kind == .limit)
    }
}
