-- gatehouse: no transaction
-- gatehouse: compatible from 0079
-- What takes long: about a tenth of a millisecond for each account. Sign-ins go on meanwhile.

CALL fill_sign_in_habits();
