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
