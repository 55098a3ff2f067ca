import ErrandDigests
import ErrandEssentials
import Testing

@Suite("Stamps of users") struct UserStampTests {
    private let ada = UserStamp([("authorization", "Bearer hunter2"), ("x-device", "7")])

    @Test("the same identities match in any order, and others, fewer or more don't")
    func matching() {
        #expect(ada.matches([("x-device", "7"), ("authorization", "Bearer hunter2")]))
        for other: [UserStamp.Identity] in [
            [("authorization", "Bearer hunter3"), ("x-device", "7")], [("authorization", "Bearer hunter2")], [],
            [("authorization", "Bearer hunter2"), ("x-device", "7"), ("x-more", "1")],
            [("authorizationB", "earer hunter2"), ("x-device", "7")],
        ] {
            #expect(!ada.matches(other), "\(other)")
        }
        #expect(UserStamp([]).matches([]) && UserStamp([]).isEmpty && !UserStamp([]).matches([("x", "y")]))
    }

    @Test("a stamp that was created before all identities were known is contained in them")
    func containment() {
        let all: [UserStamp.Identity] = [("authorization", "Bearer hunter2"), ("x-device", "7"), ("x-more", "1")]
        #expect(ada.isContained(in: all) && !ada.isContained(in: [all[0]]))
        #expect(UserStamp([]).isContained(in: all))
    }

    @Test("cookies can be added or missing, but values must not change, and one cookie has to remain")
    func cookies() {
        let stamp = UserStamp([("cookie sid", "1"), ("cookie lb", "2")])
        #expect(stamp.matches([("cookie sid", "1")]))
        #expect(stamp.matches([("cookie sid", "1"), ("cookie new", "3")]))
        #expect(!stamp.matches([("cookie sid", "9"), ("cookie lb", "2")]))
        #expect(!stamp.matches([("cookie new", "3")]) && !stamp.matches([]))
    }

    @Test("a stamp can be encoded and decoded, reveals no user, and differs from another stamp of the same user")
    func encoded() throws {
        let data = try JSONEncoder().encode(ada)
        let text = String(decoding: data, as: UTF8.self)
        #expect(!text.contains("hunter2") && !text.contains("authorization") && data.count < 512)
        #expect(try JSONDecoder().decode(UserStamp.self, from: data) == ada)
        #expect(UserStamp([("authorization", "Bearer hunter2"), ("x-device", "7")]) != ada)
    }

    @Test("the number of stored identities and cookies is limited")
    func bounded() throws {
        let many: [UserStamp.Identity] = (0..<1000).map { ("cookie \($0)", "1") } + (0..<1000).map { ("x-\($0)", "1") }
        let stamp = UserStamp(many)
        #expect(try JSONEncoder().encode(stamp).count < 6000)
        #expect(stamp.matches(many) && !stamp.matches(many.map { ($0.source, "2") }))
    }
}
