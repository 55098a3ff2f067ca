#if DEBUG
import ErrandHTTP
import ErrandSupport
import Synchronization

/// Finds stored properties with the name of a ``Request`` member but another type. For such a property, Swift silently
/// uses the member's default.
enum ShadowedMembers {
    private static let known = Mutex<Set<ObjectIdentifier>>([])

    static func warnings(about request: any Request) -> [String] {
        let type = type(of: request)
        guard known.withLock({ $0.insert(ObjectIdentifier(type)).inserted }) else { return [] }
        return Mirror(reflecting: request).children.compactMap { child in
            guard let name = child.label, let expected = members[name], expected != Swift.type(of: child.value) else {
                return nil
            }
            let found = Swift.type(of: child.value)
            return """
                \(type).\(name) has the type \(sugared(found)), not \(sugared(expected)), so Request.\(name) keeps its \
                default
                """
        }
    }

    private static func sugared(_ type: any Any.Type) -> String {
        let name = "\(type)"
        return name.hasPrefix("Optional<") ? "\(name.dropFirst("Optional<".count).dropLast())?" : name
    }

    static func warn(about request: any Request, _ activity: Activity) {
        for warning in warnings(about: request) {
            StandardError.write("Errand: \(warning)")
            activity.note("request", warning)
        }
    }

    private static let members: [String: any Any.Type] = [
        "method": HTTPMethod.self, "path": String.self, "base": RequestBaseURL.self, "query": Parameters.self,
        "parameters": Parameters?.self, "parameterPlacement": ParameterPlacement.self,
        "parameterEncoding": ParameterEncoding.self, "headers": HTTPHeaders.self, "body": RequestBody.self,
        "authorization": Authorization?.self, "timeout": Duration?.self, "deadline": Duration?.self,
        "priority": RequestPriority?.self, "redirects": RedirectPolicy?.self, "acceptableStatuses": StatusCodes.self,
        "acceptableContentTypes": ContentTypes.self, "delivery": BodyDelivery.self, "label": String?.self,
        "tags": Tags.self, "filters": [any Filter].self, "outcomeCheck": ResponseCheck?.self,
        "checks": [ResponseCheck].self, "accessories": [any Accessory].self, "decoder": (any BodyDecoder)?.self,
    ]
}
#endif
