import ErrandJSONValidation

/// The formats of strings that are defined (2020-12 validation, section 7.3).
enum JSONFormat: String, Sendable {
    case dateTime = "date-time"
    case date, time, duration
    case email
    case internationalEmail = "idn-email"
    case hostname
    case internationalHostname = "idn-hostname"
    case ipv4, ipv6
    case uri
    case uriReference = "uri-reference"
    case iri
    case iriReference = "iri-reference"
    case uuid
    case uriTemplate = "uri-template"
    case jsonPointer = "json-pointer"
    case relativeJSONPointer = "relative-json-pointer"
    case regex

    /// Whether a string has the format; nil if it is too long to say.
    func fits(_ text: String) -> Bool? {
        let bytes = Array(text.utf8)
        return switch self {
        case .dateTime: DateFormat.isDateTime(bytes)
        case .date: DateFormat.isDate(bytes)
        case .time: DateFormat.isTime(bytes)
        case .duration: DateFormat.isDuration(bytes)
        case .email: AddressFormat.isEmail(bytes, isInternational: false)
        case .internationalEmail: AddressFormat.isEmail(bytes, isInternational: true)
        case .hostname: HostnameFormat.isHostname(bytes)
        case .internationalHostname: HostnameFormat.isInternational(text)
        case .ipv4: AddressFormat.isIPv4(bytes[...])
        case .ipv6: AddressFormat.isIPv6(bytes[...])
        case .uri: URIFormat.isURI(text, isReference: false, isInternational: false)
        case .uriReference: URIFormat.isURI(text, isReference: true, isInternational: false)
        case .iri: URIFormat.isURI(text, isReference: false, isInternational: true)
        case .iriReference: URIFormat.isURI(text, isReference: true, isInternational: true)
        case .uuid: TextFormat.isUUID(bytes)
        case .uriTemplate: TextFormat.isURITemplate(text)
        case .jsonPointer: TextFormat.isPointer(bytes[...])
        case .relativeJSONPointer: TextFormat.isRelativePointer(bytes)
        case .regex: PatternParser.isPattern(text)
        }
    }
}
