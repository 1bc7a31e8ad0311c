"""The claims of IANA's registry "JSON Web Token Claims", as it stood when the release was made, in lower case."""

from __future__ import annotations

from typing import Final

REGISTERED: Final = frozenset(
    {
        # RFC 7519 and OpenID Connect.
        *(
            "iss",
            "sub",
            "aud",
            "exp",
            "nbf",
            "iat",
            "jti",
            "azp",
            "nonce",
            "auth_time",
            "at_hash",
            "c_hash",
            "acr",
            "amr",
        ),
        *("name", "given_name", "family_name", "middle_name", "nickname", "preferred_username", "profile", "picture"),
        *("website", "email", "email_verified", "gender", "birthdate", "zoneinfo", "locale", "phone_number"),
        *("phone_number_verified", "address", "updated_at", "sub_jwk", "sid", "_claim_names", "_claim_sources"),
        *("verified_claims", "place_of_birth", "nationalities", "birth_family_name", "birth_given_name"),
        *("birth_middle_name", "salutation", "title", "msisdn", "also_known_as"),
        # OAuth: proof of possession, exchange, access tokens, introspection, DPoP, rich requests.
        *("cnf", "act", "scope", "client_id", "may_act", "roles", "groups", "entitlements", "token_introspection"),
        *("htm", "htu", "ath", "authorization_details", "ace_profile", "cnonce", "exi", "vot", "vtm"),
        # Security events, subjects and status lists.
        *("events", "toe", "txn", "sub_id", "status", "status_list", "ttl"),
        # Selective disclosure and verifiable credentials.
        *("vc", "vp", "vct", "vct#integrity", "_sd", "_sd_alg", "...", "sd_hash"),
        # Federation.
        *("jwks", "metadata", "metadata_policy", "metadata_policy_crit", "constraints", "crit", "authority_hints"),
        *(
            "trust_anchor_hints",
            "trust_marks",
            "trust_mark_issuers",
            "trust_mark_owners",
            "trust_mark_type",
            "trust_chain",
            "trust_anchor",
        ),
        *("ref", "delegation", "logo_uri", "keys", "source_endpoint"),
        # Telephony.
        *("sip_from_tag", "sip_date", "sip_callid", "sip_cseq_num", "sip_via_branch", "orig", "dest", "mky", "rph"),
        *("attest", "stpl", "origid", "jcard", "div", "opt", "sph", "rcd", "rcdi", "crn", "msgi", "atc", "at_use_nbr"),
        # Attestation of devices.
        *("eat_nonce", "ueid", "sueids", "oemid", "hwmodel", "hwversion", "oemboot", "dbgstat", "location"),
        *("eat_profile", "submods", "uptime", "bootcount", "bootseed", "dloas", "swname", "swversion", "manifests"),
        *("measurements", "measres", "intuse", "geohash", "cmw"),
        # Of 3GPP: functions of networks, and owners of resources.
        *("consumerplmnid", "consumersnpnid", "producerplmnid", "producersnpnid", "producersnssailist"),
        *("producernsilist", "producernfsetid", "producernfservicesetid", "sourcenfinstanceid", "analyticsidlist"),
        "resownerid",
        # Delivery of content, and registration data.
        *("cdniv", "cdnicrit", "cdniip", "cdniuc", "cdniets", "cdnistt", "cdnistd", "sig_val_claims"),
        *("rdap_allowed_purposes", "rdap_dnt_allowed"),
    }
)
