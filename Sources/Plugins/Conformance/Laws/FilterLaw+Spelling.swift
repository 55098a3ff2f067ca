import Errand
import ErrandEssentials
import ErrandTesting

/// The law about values of fields that HTTP allows to be written in several ways.
extension FilterLaw {
    /// The law that fields with the same meaning have the same effect (RFC 9110, sections 5.3, 5.6, 8.3 and 11.1).
    public static let spelling = FilterLaw(
        "spelling", "law: a field has the same effect, however its value is written",
        advice: """
            Don't compare a field's text with `==` or `contains`. Compare a media type without its parameters, as in \
            `response.mediaType == "application/json"`. Split a list at its commas, trim the members, and compare them \
            without regard to case. A list can also be in several fields: read all of them with `headers.values(of:)`.
            """,
        share: 15,
        exchanges: { [LawExchange.spelled(&$0)] }
    ) { bench, exchanges in
        for exchange in exchanges {
            var plain: [[String: String]] = []
            for _ in 0..<2 { plain.append(try await spelledCourse(bench, exchange)) }
            for variant in LawSpelling.variants(of: exchange) {
                let came = try await spelledCourse(bench, variant.exchange)
                for aspect in Set(plain[0].keys).union(came.keys).sorted() where plain[0][aspect] == plain[1][aspect] {
                    if aspect.contains("the field \(variant.name.rawName.lowercased()) of") { continue }
                    let expected = plain[0][aspect]
                    if variant.values(of: aspect, in: came).contains(expected) { continue }
                    if try await isAccidental(bench, exchange, variant, aspect, expected) { continue }
                    return LawViolation(
                        expected: "\(aspect): \(expected ?? "none"), as with \(variant.name): \(variant.original)",
                        came: "\(came[aspect] ?? "none"), with \(variant.name): \(variant.text)")
                }
            }
        }
        return nil
    }

    /// Whether a difference isn't the filter's, or doesn't occur each time, because a filter chooses a value at random.
    private static func isAccidental(
        _ bench: LawBench, _ exchange: LawExchange, _ variant: LawSpelling.Variant, _ aspect: String,
        _ expected: String?
    ) async throws -> Bool {
        let control = try await spelledCourse(bench, exchange, isPlain: true)[aspect]
        if control != (try await spelledCourse(bench, variant.exchange, isPlain: true)[aspect]) { return true }
        for _ in 0..<6 {
            if try await spelledCourse(bench, exchange)[aspect] != expected { return true }
            let came = try await spelledCourse(bench, variant.exchange)
            if variant.values(of: aspect, in: came).contains(expected) { return true }
        }
        return false
    }

    /// Returns the aspects of a call, and of the same call half a minute later, for which a filter may have stored
    /// the response.
    private static func spelledCourse(
        _ bench: LawBench, _ exchange: LawExchange, isPlain: Bool = false
    ) async throws -> [String: String] {
        let (subject, permissions) = try bench.subject()
        let run = isPlain ? bench.control() : subject
        var course: [String: String] = [:]
        for number in 1...2 {
            for (name, value) in await aspects(run, LawCall(exchange), permissions) {
                // A signature depends on every byte of the fields that it covers.
                let isSigned = permissions.traits.contains(.signs) && name.contains("the field")
                course["\(name) (call \(number))"] = isSigned ? "a value" : value
            }
            run.clock.pass(.seconds(30))
        }
        return course
    }
}

/// Other ways to write the values of an exchange's fields.
private enum LawSpelling {
    struct Variant {
        let name: HTTPHeaderName
        let original: String
        let text: String
        let exchange: LawExchange

        /// Returns an aspect of a call: as it is, and with the original text if the filter has copied the variant's.
        /// The text can also be a part of another word by chance, as `DE` is of `DELETE`.
        func values(of aspect: String, in course: [String: String]) -> [String?] {
            guard let value = course[aspect] else { return [nil] }
            return [value, value.replacing(text, with: original), wordsReplaced(in: value)]
        }

        /// Replaces the variant's text where it isn't a part of a longer word.
        private func wordsReplaced(in value: String) -> String {
            func isPartOfWord(_ character: Character?) -> Bool {
                character.map { $0.isLetter || $0.isNumber } ?? false
            }
            var (result, rest) = ("", value[...])
            while let range = rest.firstRange(of: text) {
                let before = value[..<range.lowerBound].last
                let isWhole = !isPartOfWord(before) && !isPartOfWord(rest[range.upperBound...].first)
                result += rest[..<range.lowerBound] + (isWhole ? original : text)
                rest = rest[range.upperBound...]
            }
            return result + rest
        }
    }

    static let mediaTypes = [
        "application/json", "application/json", "application/json", "application/problem+json",
        "application/vnd.law+json", "text/html; charset=utf-8", "text/plain; charset=utf-8", "text/csv",
        "application/x-www-form-urlencoded", "application/xml", "application/octet-stream", "text/event-stream",
    ]
    /// Lists whose members ignore case.
    static let lists: [HTTPHeaderName: [String]] = [
        .cacheControl: ["no-store", "no-cache", "max-age=60", "max-age=60, private", "no-cache, no-store"],
        .accept: ["application/json", "text/csv, application/json;q=0.5"],
        .acceptEncoding: ["gzip", "gzip, br", "identity"], .acceptLanguage: ["de", "de, en;q=0.5"],
        .connection: ["close", "keep-alive"], .vary: ["Accept", "Accept, X-Law-A"],
        .contentLanguage: ["de", "de, en"], .acceptRanges: ["bytes"], .pragma: ["no-cache"],
        .contentEncoding: ["gzip", "identity"],
    ]
    static let requestNames: [HTTPHeaderName] = [
        .cacheControl, .accept, .acceptEncoding, .acceptLanguage, .pragma,
    ]
    static let responseNames: [HTTPHeaderName] = [
        .cacheControl, .cacheControl, .connection, .vary, .contentLanguage, .acceptRanges,
    ]
    /// Fields that begin with the name of a scheme, which ignores case.
    private static let schemes: [HTTPHeaderName] = [.authorization, .wwwAuthenticate]

    /// Returns the exchange once for each other spelling of each field.
    static func variants(of exchange: LawExchange) -> [Variant] {
        var variants: [Variant] = []
        for name in names(in: exchange.headers) {
            for values in spellings(of: name, exchange.headers.values(of: name)) {
                var copy = exchange
                copy.headers.replace(name, with: values)
                variants.append(variant(name, exchange.headers.values(of: name), values, copy))
            }
        }
        for index in exchange.replies.indices {
            let headers = exchange.replies[index].headers
            for name in names(in: headers) {
                for values in spellings(of: name, headers.values(of: name)) {
                    var copy = exchange
                    copy.replies[index].headers.replace(name, with: values)
                    variants.append(variant(name, headers.values(of: name), values, copy))
                }
            }
        }
        return variants
    }

    private static func names(in headers: HTTPHeaders) -> [HTTPHeaderName] {
        headers.reduce(into: []) { names, field in if !names.contains(field.name) { names.append(field.name) } }
    }

    private static func variant(
        _ name: HTTPHeaderName, _ before: [String], _ after: [String], _ exchange: LawExchange
    ) -> Variant {
        Variant(
            name: name, original: before.joined(separator: " | "), text: after.joined(separator: " | "),
            exchange: exchange)
    }

    private static func spellings(of name: HTTPHeaderName, _ values: [String]) -> [[String]] {
        // A quoted text keeps its case and its commas.
        guard let first = values.first, !first.isEmpty, !values.contains(where: { $0.contains("\"") }) else {
            return []
        }
        var spellings: [[String]] = []
        if name == .contentType, values.count == 1 {
            spellings = mediaTypeSpellings(of: first).map { [$0] }
        } else if schemes.contains(name) {
            let scheme = first.prefix { $0 != " " }
            spellings = [scheme.lowercased(), scheme.uppercased()].map { changed in
                [changed + first.dropFirst(scheme.count)] + values.dropFirst()
            }
        } else if lists[name] != nil {
            let members = values.flatMap { $0.split(separator: ",") }.map { $0.trimmed }
            spellings = [values.map { $0.uppercased() }, [members.joined(separator: " , ")], members]
        }
        return spellings.filter { $0 != values }
    }

    private static func mediaTypeSpellings(of text: String) -> [String] {
        let type = text.prefix { $0 != ";" }
        let rest = text.dropFirst(type.count)
        var texts = [type.uppercased() + rest, type.capitalized + rest]
        if rest.isEmpty {
            // JSON is always UTF-8, so this parameter has no meaning (RFC 8259, section 11).
            let isJSON = type.lowercased() == "application/json" || type.lowercased().hasSuffix("+json")
            if isJSON { texts += [type + "; charset=utf-8", type + ";charset=UTF-8"] }
        } else {
            texts += [text.replacing("; ", with: ";"), text.replacing(";", with: " ; ")]
        }
        return texts
    }
}

extension HTTPHeaders {
    fileprivate mutating func replace(_ name: HTTPHeaderName, with values: [String]) {
        let isSensitive = contains { $0.name == name && $0.isSensitive }
        remove(name)
        for value in values { add(name, value, sensitive: isSensitive) }
    }
}

extension Substring {
    fileprivate var trimmed: String {
        var text = self
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}

extension LawExchange {
    /// Returns a call whose request and response have fields that can be written in several ways.
    fileprivate static func spelled(_ random: inout LawRandom) -> LawExchange {
        var exchange = LawExchange(random.pick([.get, .get, .post, .put]), randomURL(&random))
        func value(_ name: HTTPHeaderName) -> String { random.pick(LawSpelling.lists[name] ?? [""]) }
        if exchange.method != .get {
            exchange.body = .text("{\"law\":1}")
            exchange.headers[.contentType] = random.pick(LawSpelling.mediaTypes)
        }
        for _ in 0..<2 {
            let name = random.pick(LawSpelling.requestNames)
            exchange.headers[name] = value(name)
        }
        if random.isTrue(0.2) { exchange.headers[.authorization] = "Bearer law" }
        exchange.isStreamed = random.isTrue(0.2)
        exchange.isStrict = random.isTrue(0.3)
        let status = random.isTrue(0.6) ? 200 : random.pick(LawVocabulary.decisiveStatuses)
        var reply = LawReply(status, body: exchange.isStreamed ? .stream(["{\"law\":", "1}"]) : .text("{\"law\":1}"))
        if [204, 304].contains(status) { reply.body = .none }
        reply.headers[.contentType] = random.pick(LawSpelling.mediaTypes)
        for _ in 0..<2 {
            let name = random.pick(LawSpelling.responseNames)
            reply.headers[name] = value(name)
        }
        if status == 401 { reply.headers[.wwwAuthenticate] = "Bearer realm=law" }
        if random.isTrue(0.3) { reply.headers[.entityTag] = "\"law\"" }
        exchange.replies = status >= 400 ? [reply, LawReply()] : [reply]
        return exchange
    }
}
